package io.gpufleet.nodedaemon.http;

import io.gpufleet.kit.lifecycle.OnDemandThread;
import io.netty.channel.Channel;
import io.netty.handler.codec.http.FullHttpRequest;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * {@code /doctor} and {@code /probe}: reports that take seconds and name the settings of the daemon, so only one is made at a
 * time, and only for programs of the same machine.
 */
final class ReportRoute {
    private static final int OK = 200;
    private static final int FORBIDDEN = 403;
    private static final int CONFLICT = 409;
    private static final int FAILED = 500;
    private static final int BUSY = 503;

    private final Executor thread = OnDemandThread.executor("reports");
    private final DiagnosticReports reports;
    private final AtomicBoolean busy = new AtomicBoolean();

    ReportRoute(DiagnosticReports reports) {
        this.reports = reports;
    }

    CompletableFuture<OpsResponse> respond(FullHttpRequest request, Channel channel, String command) {
        if (!isLocal(channel)) {
            return CompletableFuture.completedFuture(text(FORBIDDEN, "only for programs of the same machine"));
        }
        if (!busy.compareAndSet(false, true)) {
            return CompletableFuture.completedFuture(text(BUSY, "another report is being made"));
        }
        String devices =
                Optional.ofNullable(request.headers().get("x-gpufleet-devices")).orElse("");
        boolean json = request.uri().endsWith("?json");
        return CompletableFuture.supplyAsync(() -> report(command, devices, json), thread)
                .exceptionally(failed -> text(FAILED, String.valueOf(failed)))
                .whenComplete((_, _) -> busy.set(false));
    }

    private OpsResponse report(String command, String devices, boolean json) {
        return reports.report(command, devices, json)
                .map(made -> new OpsResponse(
                        OK,
                        "text/plain; charset=utf-8",
                        Map.of("x-exit-status", Integer.toString(made.exitStatus())),
                        made.text()))
                .orElseGet(() -> text(CONFLICT, "this daemon has other devices"));
    }

    /** A connection to an own address, the loopback one or another, comes from that address. */
    private static boolean isLocal(Channel channel) {
        return channel.remoteAddress() instanceof InetSocketAddress from
                && channel.localAddress() instanceof InetSocketAddress to
                && from.getAddress().equals(to.getAddress());
    }

    private static OpsResponse text(int status, String reason) {
        return OpsResponse.text(status, reason + "\n");
    }
}
