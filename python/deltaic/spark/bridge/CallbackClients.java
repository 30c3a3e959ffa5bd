package deltaic.spark;

import java.lang.reflect.Field;
import java.util.concurrent.TimeUnit;
import javax.net.SocketFactory;
import py4j.CallbackClient;
import py4j.ClientServerConnection;
import py4j.Gateway;
import py4j.GatewayServer;
import py4j.Py4JPythonClient;
import py4j.PythonClient;

/** Lets py4j show a token when it connects to Python: it forgets its own as soon as PySpark sets Python's port. */
public final class CallbackClients {
  private CallbackClients() {}

  public static void authenticate(GatewayServer server, String token) throws ReflectiveOperationException {
    Py4JPythonClient before = server.getCallbackClient();
    Field client = Gateway.class.getDeclaredField("cbClient");
    client.setAccessible(true);
    if (before instanceof PythonClient) {
      client.set(server.getGateway(), new PerThread(server, (PythonClient) before, token));
      return;
    }
    client.set(
        server.getGateway(),
        new CallbackClient(
            before.getPort(),
            before.getAddress(),
            token,
            CallbackClient.DEFAULT_MIN_CONNECTION_TIME,
            CallbackClient.DEFAULT_MIN_CONNECTION_TIME_UNIT,
            SocketFactory.getDefault(),
            before.isMemoryManagementEnabled(),
            before.getReadTimeout()));
    before.shutdown();
  }

  /** Connections that a thread has from the client before stay its own. */
  private static final class PerThread extends PythonClient {
    private final PythonClient before;

    PerThread(GatewayServer server, PythonClient before, String token) {
      super(
          server.getGateway(),
          server.getCustomCommands(),
          before.getPort(),
          before.getAddress(),
          CallbackClient.DEFAULT_MIN_CONNECTION_TIME,
          TimeUnit.SECONDS,
          SocketFactory.getDefault(),
          server,
          before.isMemoryManagementEnabled(),
          before.getReadTimeout(),
          token);
      this.before = before;
    }

    public ClientServerConnection getPerThreadConnection() {
      ClientServerConnection own = super.getPerThreadConnection();
      return own != null ? own : before.getPerThreadConnection();
    }
  }
}
