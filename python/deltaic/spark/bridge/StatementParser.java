package deltaic.spark;

import com.fasterxml.jackson.databind.JsonNode;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.lang.reflect.UndeclaredThrowableException;
import java.util.HashMap;
import java.util.Locale;
import java.util.regex.Pattern;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute;
import org.apache.spark.sql.catalyst.catalog.VariableDefinition;
import org.apache.spark.sql.catalyst.parser.ParserInterface;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StringType$;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.Product;
import scala.collection.Seq;
import scala.util.Either;
import scala.util.Left;
import scala.util.Right;

/**
 * A session's parser that takes the statements of Delta that Spark does not know. A proxy, because the interface of
 * parsers grows with every Spark. Other statements pay for one look at their first words.
 */
public final class StatementParser implements InvocationHandler {
  private static final String BEFORE = "^(?:\\s|--[^\\n]*(?:\\n|$)|/\\*.*?\\*/)*";
  private static final Pattern OURS = Pattern.compile(BEFORE
      + "(?:(?:OPTIMIZE|VACUUM|RESTORE|GENERATE|REORG)\\b|CONVERT\\s+TO\\b|DESC(?:RIBE)?\\s+(?:HISTORY|DETAIL)\\s+\\S"
      + "|ALTER\\s+TABLE\\b.*\\b(?:CONSTRAINT|FEATURE|SYNC|ADD\\s+CHECK)\\b|(?:CREATE|REPLACE)\\b.*\\bCLONE\\b)",
      Pattern.CASE_INSENSITIVE | Pattern.DOTALL);
  /** What a client of Spark Connect asks of a function of deltaic. */
  private static final String CALL = "DELTAIC CALL '";
  private static final StructType ANSWER = new StructType().add("answer", StringType$.MODULE$);
  private final ParserInterface inner;

  private StatementParser(ParserInterface inner) {
    this.inner = inner;
  }

  static ParserInterface around(ParserInterface inner) {
    return (ParserInterface) Proxy.newProxyInstance(
        StatementParser.class.getClassLoader(), new Class[] {ParserInterface.class}, new StatementParser(inner));
  }

  /** Idempotent. Into a live session, whose parser is a final field. */
  static void inSession(Object sessionState) throws ReflectiveOperationException {
    Class c = sessionState.getClass();
    while (!c.getName().equals("org.apache.spark.sql.internal.SessionState")) c = c.getSuperclass();
    Field field = c.getDeclaredField("sqlParser");
    field.setAccessible(true);
    Object now = field.get(sessionState);
    if (Proxy.isProxyClass(now.getClass()) && Proxy.getInvocationHandler(now) instanceof StatementParser) return;
    field.set(sessionState, around((ParserInterface) now));
  }

  public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
    String name = method.getName();
    try {
      if (name.equals("parsePlan") || name.equals("parsePlanWithParameters")) {
        LogicalPlan ours = parse((String) arguments[0]);
        if (ours != null) return ours;
      }
      Object parsed = method.invoke(inner, arguments);
      LogicalPlan ours = parsed != null && parsed.getClass().getSimpleName().equals("ExecuteImmediateQuery")
          ? immediate((Product) parsed) : null;
      return ours == null ? parsed : ours;
    } catch (InvocationTargetException e) {
      throw allowed(method, e.getTargetException());
    } catch (Throwable e) {
      throw allowed(method, e);
    }
  }

  /** What the method may throw. A proxy wraps other errors without a message, and Spark Connect tells nothing of such. */
  private static Throwable allowed(Method method, Throwable error) {
    if (error instanceof RuntimeException || error instanceof Error) return error;
    Class[] declared = method.getExceptionTypes();
    for (int i = 0; i < declared.length; i++) if (declared[i].isInstance(error)) return error;
    return new UndeclaredThrowableException(error, error.getMessage());
  }

  /** The statement of ours that EXECUTE IMMEDIATE has: Spark 4.0 would parse it by a parser of its own. */
  private static LogicalPlan immediate(Product node) {
    boolean plain = ((Seq) node.productElement(0)).isEmpty() && ((Seq) node.productElement(2)).isEmpty();
    if (!plain) return null;
    Either query = (Either) node.productElement(1);
    Object text = query instanceof Left ? ((Left) query).value() : variable((UnresolvedAttribute) ((Right) query).value());
    return text == null ? null : parse(text.toString());
  }

  /** The value of a variable of the session, or null. */
  private static Object variable(UnresolvedAttribute name) {
    SparkSession session = SparkSession.active();
    String last = (String) name.nameParts().last();
    if (!session.sessionState().conf().caseSensitiveAnalysis()) last = last.toLowerCase(Locale.ROOT);
    Option found = session.sessionState().catalogManager().tempVariableManager().get(Scala.one(last));
    return found.isDefined() ? ((VariableDefinition) found.get()).currentValue().value() : null;
  }

  private static LogicalPlan parse(String text) {
    if (text.startsWith(CALL)) {
      HashMap call = new HashMap();
      call.put("op", "call");
      call.put("call", text.substring(CALL.length(), text.length() - 1));
      return DeltaCommand.of(call, null, ANSWER);
    }
    if (!OURS.matcher(text).find()) return null;
    HashMap request = new HashMap();
    request.put("op", "parse");
    request.put("text", text);
    Object answer = Python.call(request, null);
    if (answer == null) return null;
    JsonNode told = Python.read((String) answer);
    HashMap run = new HashMap();
    run.put("op", "statement");
    run.put("path", told.get("name").asText());
    run.put("statement", told.get("statement").toString());
    return DeltaCommand.of(run, null, (StructType) DataType.fromJson(told.get("schema").toString()));
  }
}
