package deltaic.spark;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.WeakHashMap;
import org.apache.spark.sql.ExperimentalMethods;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.SparkSessionExtensions;
import org.apache.spark.sql.catalyst.parser.ParserInterface;
import scala.collection.immutable.Seq;
import scala.collection.mutable.Buffer;
import scala.runtime.AbstractFunction1;
import scala.runtime.AbstractFunction2;

/** Puts the rules into sessions: into a live one by reflection, into later ones by Spark's extensions. */
public final class Install {
  private static final Set INJECTED = Collections.newSetFromMap(new WeakHashMap());
  /** Sessions that have every part. */
  private static final Set DONE = Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap()));

  private Install() {}

  /** Notes that a session has every part. */
  public static void done(SparkSession session) {
    DONE.add(session);
  }

  /** Puts back what a user can replace in a session that has every part; false in others. */
  public static boolean restore(SparkSession session) {
    if (!DONE.contains(session)) return false;
    HideOptions.hide(session);
    HideOptions.inContext(session.sparkContext());
    inOptimizer(session);
    inFunctions(session);
    return true;
  }

  /** Makes the rules for a session that is being built. */
  private static final class Builder extends AbstractFunction1 {
    private final Class rule;

    Builder(Class rule) {
      this.rule = rule;
    }

    public Object apply(Object session) {
      if (rule == EvolveWrites.class) return new EvolveWrites((SparkSession) session);
      if (rule == OwnCatalog.class) return new OwnCatalog((SparkSession) session);
      if (rule == StatementVariables.class) return new StatementVariables((SparkSession) session);
      if (rule == KeepStars.class) return new KeepStars((SparkSession) session);
      if (rule == ReadChanges.class) return new ReadChanges((SparkSession) session);
      if (rule == ResolveReads.class) return new ResolveReads((SparkSession) session);
      if (rule == StreamPlaces.class) return new StreamPlaces((SparkSession) session);
      if (rule == HideOptions.class) return new HideOptions((SparkSession) session);
      if (rule == OtherStatements.class) return new OtherStatements();
      // the optimizer's last batch has no extension point of its own: it is open through the session's `experimental`
      inOptimizer((SparkSession) session);
      return new RouteWrites();
    }
  }

  /** Idempotent. */
  public static synchronized void inLaterSessions(SparkSessionExtensions extensions) {
    if (!INJECTED.add(extensions)) return;
    extensions.injectParser(new AbstractFunction2() {
      public Object apply(Object session, Object parser) {
        return StatementParser.around((ParserInterface) parser);
      }
    });
    extensions.injectHintResolutionRule(new Builder(OwnCatalog.class));
    extensions.injectHintResolutionRule(new Builder(EvolveWrites.class));
    extensions.injectHintResolutionRule(new Builder(StatementVariables.class));
    extensions.injectHintResolutionRule(new Builder(KeepStars.class));
    extensions.injectHintResolutionRule(new Builder(ReadChanges.class));
    extensions.injectResolutionRule(new Builder(ResolveReads.class));
    extensions.injectResolutionRule(new Builder(HideOptions.class));
    extensions.injectResolutionRule(new Builder(OtherStatements.class));
    extensions.injectPostHocResolutionRule(new Builder(RouteWrites.class));
    extensions.injectPostHocResolutionRule(new Builder(StreamPlaces.class));
    ChangesFunction.inLaterSessions(extensions);
  }

  /**
   * Into clones of a session, as streams make them, and into nothing else: on a server, all sessions share their extensions
   * until one gets its own here.
   */
  public static void inClones(SparkSession session) throws ReflectiveOperationException {
    SparkSessionExtensions shared = ((org.apache.spark.sql.classic.SparkSession) session).extensions();
    SparkSessionExtensions own = new SparkSessionExtensions();
    Field[] fields = SparkSessionExtensions.class.getDeclaredFields();
    for (int i = 0; i < fields.length; i++) {
      if (!Buffer.class.isAssignableFrom(fields[i].getType())) continue;
      fields[i].setAccessible(true);
      ((Buffer) fields[i].get(own)).addAll((Buffer) fields[i].get(shared));
    }
    inLaterSessions(own);
    Field extensions = org.apache.spark.sql.classic.SparkSession.class.getDeclaredField("extensions");
    extensions.setAccessible(true);
    extensions.set(session, own);
  }

  /** Loads the catalog that the settings of a session name, if it is ours: later its class loader may have copies of it. */
  public static void inCatalog(SparkSession session) {
    OwnCatalog.load(session);
  }

  /** Idempotent. */
  public static void inOptimizer(SparkSession session) {
    ExperimentalMethods methods = ((org.apache.spark.sql.classic.SparkSession) session).experimental();
    List rules = new ArrayList(Scala.list(methods.extraOptimizations()));
    for (int i = 0; i < rules.size(); i++) if (rules.get(i) instanceof DeletionVectorRule) return;
    rules.add(new PinVersions());
    rules.add(new CountRule());
    rules.add(new MixedFilterRule());
    rules.add(new LimitRule());
    rules.add(new RowIdRule());
    rules.add(new DeletionVectorRule());
    methods.extraOptimizations_$eq(Scala.seq(rules));
    List strategies = new ArrayList(Scala.list(methods.extraStrategies()));
    strategies.add(new CoreReads());
    methods.extraStrategies_$eq(Scala.seq(strategies));
  }

  /** Idempotent. */
  public static void inFunctions(SparkSession session) {
    ChangesFunction.register(session);
  }

  /** Idempotent. False when this Spark's analyzer keeps its rules elsewhere. */
  public static boolean inAnalyzer(SparkSession session, Object analyzer) throws Exception {
    return append(analyzer, "hintResolutionRules", new StatementVariables(session))
        & append(analyzer, "hintResolutionRules", new KeepStars(session))
        & append(analyzer, "hintResolutionRules", new EvolveWrites(session))
        & append(analyzer, "hintResolutionRules", new ReadChanges(session))
        & append(analyzer, "extendedResolutionRules", new ResolveReads(session))
        & append(analyzer, "extendedResolutionRules", new HideOptions(session))
        & append(analyzer, "extendedResolutionRules", new OtherStatements())
        & append(analyzer, "postHocResolutionRules", new RouteWrites())
        & append(analyzer, "postHocResolutionRules", new StreamPlaces(session));
  }

  /** Idempotent. */
  public static void inParser(Object sessionState) throws ReflectiveOperationException {
    StatementParser.inSession(sessionState);
  }

  /** Appends a rule to a `val` of the analyzer that holds rules, unless it has one of that class. */
  private static boolean append(Object analyzer, String name, Object rule) throws Exception {
    for (Class c = analyzer.getClass(); c != null; c = c.getSuperclass()) {
      Field[] fields = c.getDeclaredFields();
      for (int i = 0; i < fields.length; i++) {
        if (!fields[i].getName().endsWith(name) || !Seq.class.isAssignableFrom(fields[i].getType())) continue;
        fields[i].setAccessible(true);
        Object old = fields[i].get(analyzer);
        if (old == null) continue;
        List rules = new ArrayList(Scala.list((Seq) old));
        for (int r = 0; r < rules.size(); r++) if (rules.get(r).getClass() == rule.getClass()) return true;
        rules.add(rule);
        fields[i].set(analyzer, Scala.seq(rules));
        return true;
      }
    }
    return false;
  }
}
