package io.gpufleet.testbed.kafka;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Forwards TCP connections on loopback to one port. While it is cut, connections stay open and no byte passes, as when a
 * switch drops packets; what was sent meanwhile arrives when the cut is over.
 */
public final class TcpProxy implements AutoCloseable {
    private static final int BUFFER_BYTES = 64 * 1024;

    private final ServerSocket server;
    private final int targetPort;
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition open = lock.newCondition();
    private boolean cut;

    private TcpProxy(ServerSocket server, int targetPort) {
        this.server = server;
        this.targetPort = targetPort;
    }

    /** Listens on a free port; nothing needs to listen on the target yet. */
    public static TcpProxy open(int targetPort) {
        try {
            var proxy = new TcpProxy(new ServerSocket(0, 50, InetAddress.getLoopbackAddress()), targetPort);
            Thread.ofVirtual().name("proxy-accept").start(proxy::accept);
            return proxy;
        } catch (IOException failed) {
            throw new UncheckedIOException("no free port on loopback", failed);
        }
    }

    /** The port it listens on. */
    public int port() {
        return server.getLocalPort();
    }

    /** No byte passes from now on. */
    public void cut() {
        setCut(true);
    }

    /** Everything passes again, first what waited. */
    public void heal() {
        setCut(false);
    }

    private void setCut(boolean now) {
        lock.lock();
        try {
            cut = now;
            open.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private void awaitOpen() {
        lock.lock();
        try {
            while (cut) {
                open.awaitUninterruptibly();
            }
        } finally {
            lock.unlock();
        }
    }

    private void accept() {
        while (!server.isClosed()) {
            try {
                Socket client = server.accept();
                sockets.add(client);
                Thread.ofVirtual().name("proxy-connect").start(() -> connect(client));
            } catch (IOException closed) {
                return;
            }
        }
    }

    private void connect(Socket client) {
        awaitOpen();
        try {
            var target = new Socket(InetAddress.getLoopbackAddress(), targetPort);
            sockets.add(target);
            target.setTcpNoDelay(true);
            client.setTcpNoDelay(true);
            Thread.ofVirtual().name("proxy-answers").start(() -> forward(target, client));
            forward(client, target);
        } catch (IOException refused) {
            end(client);
        }
    }

    private void forward(Socket from, Socket to) {
        var buffer = new byte[BUFFER_BYTES];
        try {
            for (int read = from.getInputStream().read(buffer);
                    read >= 0;
                    read = from.getInputStream().read(buffer)) {
                awaitOpen();
                to.getOutputStream().write(buffer, 0, read);
            }
        } catch (IOException ended) {
            // One side is gone; the other one is closed below.
        }
        awaitOpen();
        end(from);
        end(to);
    }

    private void end(Socket socket) {
        sockets.remove(socket);
        try {
            socket.close();
        } catch (IOException ignored) {
            // Closed already.
        }
    }

    /** Ends every connection. */
    @Override
    public void close() {
        heal();
        try {
            server.close();
        } catch (IOException ignored) {
            // Closed already.
        }
        Set.copyOf(sockets).forEach(this::end);
    }
}
