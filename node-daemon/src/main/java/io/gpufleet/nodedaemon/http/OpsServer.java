package io.gpufleet.nodedaemon.http;

import io.gpufleet.kit.config.ConfigurationException;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpServerKeepAliveHandler;
import io.netty.handler.flow.FlowControlHandler;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;

/** {@code /livez}, {@code /readyz}, {@code /metrics} and the reports: served by HTTP/1.1 on an event loop. */
public final class OpsServer implements AutoCloseable {
    /** Requests have no content. */
    private static final int MAX_CONTENT = 4096;

    /** Probes, scrapers and some more; the port is open to the network, and the kubelet's sockets need descriptors, too. */
    private static final int MAX_CONNECTIONS = 64;

    private final Channel server;

    private OpsServer(Channel server) {
        this.server = server;
    }

    /**
     * Suppliers of the responses.
     *
     * @param livenessFailures reasons to restart the process; empty if it is alive
     * @param readinessFailures reasons why it is not ready; empty if it is
     * @param metrics the metrics page
     * @param reports reports for operators of the same machine
     */
    public record OpsResponses(
            Supplier<List<String>> livenessFailures,
            Supplier<List<String>> readinessFailures,
            Supplier<String> metrics,
            DiagnosticReports reports) {}

    /** Starts the server; port 0 chooses a free port. Blocks, so do not call it on an event loop. */
    public static OpsServer open(EventLoop loop, String host, int port, OpsResponses responses)
            throws InterruptedException {
        var reports = new ReportRoute(responses.reports());
        var bound = new CompletableFuture<Channel>();
        var open = new LinkedHashSet<Channel>();
        new ServerBootstrap()
                .group(loop)
                .channel(NioServerSocketChannel.class)
                .childOption(ChannelOption.AUTO_READ, false)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        admit(channel, open);
                        channel.pipeline()
                                .addLast(
                                        new HttpServerCodec(),
                                        new HttpServerKeepAliveHandler(),
                                        new HttpObjectAggregator(MAX_CONTENT),
                                        new FlowControlHandler(),
                                        new OpsRequestHandler(
                                                request -> respond(request, channel, responses, reports)));
                    }
                })
                .bind(new InetSocketAddress(host, port))
                .addListener((ChannelFuture done) -> {
                    if (done.isSuccess()) {
                        bound.complete(done.channel());
                    } else {
                        bound.completeExceptionally(done.cause());
                    }
                });
        try {
            return new OpsServer(bound.get());
        } catch (ExecutionException failed) {
            if (failed.getCause() instanceof BindException) {
                throw new ConfigurationException("GPUFLEET_HTTP_PORT=" + port + " cannot be opened on " + host
                        + ": the port is in use; stop the program that uses it or choose another port");
            }
            throw new ConfigurationException(
                    "GPUFLEET_HTTP_HOST=" + host + " with port " + port + " cannot be opened: " + failed.getMessage());
        }
    }

    /** Instead of a connection too many the oldest one is closed: a new one is a probe's more probably than that. */
    private static void admit(Channel channel, LinkedHashSet<Channel> open) {
        if (open.size() == MAX_CONNECTIONS) {
            open.removeFirst().close();
        }
        open.add(channel);
        channel.closeFuture().addListener(_ -> open.remove(channel));
    }

    /** The port of the server. */
    public int port() {
        return ((InetSocketAddress) server.localAddress()).getPort();
    }

    private static CompletableFuture<OpsResponse> respond(
            FullHttpRequest request, Channel channel, OpsResponses responses, ReportRoute reports) {
        int query = request.uri().indexOf('?');
        String path = query < 0 ? request.uri() : request.uri().substring(0, query);
        return switch (path) {
            case "/doctor" -> reports.respond(request, channel, "doctor");
            case "/probe" -> reports.respond(request, channel, "probe");
            default -> CompletableFuture.completedFuture(respond(path, responses));
        };
    }

    private static OpsResponse respond(String path, OpsResponses responses) {
        return switch (path) {
            // The path of dcgm-exporter's probes.
            case "/livez", "/health" -> probe(responses.livenessFailures().get());
            case "/readyz" -> probe(responses.readinessFailures().get());
            case "/metrics" ->
                new OpsResponse(
                        200,
                        "text/plain; version=0.0.4; charset=utf-8",
                        Map.of(),
                        responses.metrics().get());
            default ->
                OpsResponse.text(404, "paths: /livez, /readyz, /metrics; from the same machine /doctor, /probe\n");
        };
    }

    private static OpsResponse probe(List<String> reasons) {
        return new OpsResponse(
                reasons.isEmpty() ? 200 : 503,
                "application/json",
                Map.of(),
                new JsonObject()
                        .put("ok", reasons.isEmpty())
                        .put("reasons", new JsonArray(reasons))
                        .encode());
    }

    @Override
    public void close() {
        server.close();
    }
}
