package io.gpufleet.testbed.testkit;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;

/** A program for {@link ProgramProcessIT}: prints its settings, serves /readyz and /metrics, or exits with a status. */
final class EchoMain {
    private EchoMain() {}

    public static void main(String[] arguments) throws IOException {
        new TreeMap<>(System.getenv()).forEach((name, value) -> {
            if (name.startsWith("GPUFLEET_")) {
                System.out.println(name + "=" + value);
            }
        });
        if (arguments.length > 0) {
            System.exit(Integer.parseInt(arguments[0]));
        }
        var server = HttpServer.create(
                new InetSocketAddress("127.0.0.1", Integer.parseInt(System.getenv("GPUFLEET_HTTP_PORT"))), 0);
        Map.of("/readyz", "ok", "/metrics", "gpufleet_active 1.0\ngpufleet_other 10.0\n")
                .forEach((path, body) -> server.createContext(path, exchange -> {
                    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
                    exchange.sendResponseHeaders(200, bytes.length);
                    exchange.getResponseBody().write(bytes);
                    exchange.close();
                }));
        server.start();
    }
}
