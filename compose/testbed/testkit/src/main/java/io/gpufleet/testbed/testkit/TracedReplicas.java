package io.gpufleet.testbed.testkit;

import io.gpufleet.testbed.testkit.TracedApiServer.Trace;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Replicas of a service as processes, each with its own recorded way to the API server of a test bed with a proxy; those that
 * reach the broker by the proxy can be cut off from it.
 */
public final class TracedReplicas implements AutoCloseable {
    private final TestBed bed;
    private final Path directory;
    private final Trace trace = new Trace();
    private final List<TracedApiServer> ways = new ArrayList<>();
    private final List<ProgramProcess> replicas = new ArrayList<>();

    /** Their kubeconfigs are in a directory. */
    public TracedReplicas(TestBed bed, Path directory) {
        this.bed = bed;
        this.directory = directory;
    }

    /** The trace of their writes to the API server. */
    public Trace trace() {
        return trace;
    }

    /** Starts a replica that reaches the broker by the proxy. */
    public ProgramProcess startBehindProxy(String instance, ProgramProcess.Builder program) throws IOException {
        return start(instance, program, bed.broker().proxiedBootstrap());
    }

    /** Starts a replica that always reaches the broker. */
    public ProgramProcess start(String instance, ProgramProcess.Builder program) throws IOException {
        return start(instance, program, bed.broker().bootstrap());
    }

    private ProgramProcess start(String instance, ProgramProcess.Builder program, String bootstrap) throws IOException {
        TracedApiServer way =
                TracedApiServer.open(trace, instance, bed.apiServer().url());
        ways.add(way);
        Path kubeconfig = way.kubeconfig(bed.kubeconfig(), directory.resolve(instance + ".kubeconfig"));
        ProgramProcess replica = program.environment(bed.settings())
                .environment(Map.of(
                        "GPUFLEET_KAFKA",
                        bootstrap,
                        "GPUFLEET_INSTANCE",
                        instance,
                        "GPUFLEET_SESSION_TIMEOUT",
                        "2s",
                        "KUBECONFIG",
                        kubeconfig.toString()))
                .start();
        replicas.add(replica);
        return replica;
    }

    /** Lets everything reach its end again, and ends the replicas, the newest first. */
    @Override
    public void close() {
        trace.release();
        bed.broker().proxy().heal();
        replicas.reversed().forEach(ProgramProcess::close);
        ways.forEach(TracedApiServer::close);
    }
}
