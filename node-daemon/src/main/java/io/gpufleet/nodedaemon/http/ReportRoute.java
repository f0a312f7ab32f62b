package io.gpufleet.nodedaemon.http;

import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.net.SocketAddress;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * {@code /doctor} and {@code /probe}: reports that take seconds and name the settings of the daemon, so only one is made at a
 * time, and only for programs of the same machine.
 */
final class ReportRoute {
    private static final int FORBIDDEN = 403;
    private static final int CONFLICT = 409;
    private static final int FAILED = 500;
    private static final int BUSY = 503;

    private final Vertx vertx;
    private final DiagnosticReports reports;
    private final AtomicBoolean busy = new AtomicBoolean();

    ReportRoute(Vertx vertx, DiagnosticReports reports) {
        this.vertx = vertx;
        this.reports = reports;
    }

    void respond(HttpServerRequest request, String command) {
        if (!isLocal(request)) {
            fail(request, FORBIDDEN, "only for programs of the same machine");
        } else if (busy.compareAndSet(false, true)) {
            String devices =
                    Optional.ofNullable(request.getHeader("x-gpufleet-devices")).orElse("");
            boolean json = "json".equals(request.query());
            vertx.executeBlocking(() -> reports.report(command, devices, json), false)
                    .onComplete(report -> {
                        busy.set(false);
                        if (report.failed()) {
                            fail(request, FAILED, String.valueOf(report.cause()));
                        } else {
                            report.result()
                                    .ifPresentOrElse(
                                            made -> request.response()
                                                    .putHeader("content-type", "text/plain; charset=utf-8")
                                                    .putHeader("x-exit-status", Integer.toString(made.exitStatus()))
                                                    .end(made.text()),
                                            () -> fail(request, CONFLICT, "this daemon has other devices"));
                        }
                    });
        } else {
            fail(request, BUSY, "another report is being made");
        }
    }

    /** A connection to an own address, the loopback one or another, comes from that address. */
    private static boolean isLocal(HttpServerRequest request) {
        SocketAddress from = request.remoteAddress();
        SocketAddress to = request.localAddress();
        return from != null && to != null && from.hostAddress().equals(to.hostAddress());
    }

    private static void fail(HttpServerRequest request, int status, String reason) {
        request.response()
                .setStatusCode(status)
                .putHeader("content-type", "text/plain; charset=utf-8")
                .end(reason + "\n");
    }
}
