package deltaic.spark;

import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.apache.spark.sql.SparkSession;

/** Ends the agent of a session of Spark Connect when the client closes it, or when the server's time-out does. */
final class SessionEnd extends SparkListener {
  private static final String CLOSED = "org.apache.spark.sql.connect.service.SparkListenerConnectSessionClosed";
  private final SparkSession session;
  private final String id;
  private final Agent agent;

  private SessionEnd(SparkSession session, String id, Agent agent) {
    this.session = session;
    this.id = id;
    this.agent = agent;
  }

  static SessionEnd await(SparkSession session, String id, Agent agent) {
    SessionEnd end = new SessionEnd(session, id, agent);
    session.sparkContext().addSparkListener(end);
    return end;
  }

  /** Idempotent. */
  void forget() {
    session.sparkContext().removeSparkListener(this);
  }

  public void onOtherEvent(SparkListenerEvent event) {
    if (!event.getClass().getName().equals(CLOSED) || !id.equals(idOf(event))) return;
    agent.close();
    forget();
  }

  private static Object idOf(SparkListenerEvent event) {
    try {
      return event.getClass().getMethod("sessionId", new Class[0]).invoke(event, new Object[0]);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }
}
