package deltaic.spark;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/** What Java needs to talk to Scala. Types are raw: Janino knows no generics. */
final class Scala {
  private Scala() {}

  static Seq seq(List list) {
    return CollectionConverters.asScala(list).toSeq();
  }

  static Seq none() {
    return seq(new ArrayList());
  }

  static Seq one(Object item) {
    ArrayList list = new ArrayList();
    list.add(item);
    return seq(list);
  }

  static List list(scala.collection.Seq seq) {
    return CollectionConverters.asJava(seq);
  }

  static Map map(scala.collection.Map map) {
    return CollectionConverters.asJava(map);
  }

  static scala.collection.immutable.Map emptyMap() {
    return (scala.collection.immutable.Map) scala.collection.immutable.Map$.MODULE$.empty();
  }

  static scala.collection.immutable.Map immutable(Map map) {
    return (scala.collection.immutable.Map)
        scala.collection.immutable.Map$.MODULE$.from(CollectionConverters.asScala(map));
  }

  static Option nothing() {
    return Option.empty();
  }
}
