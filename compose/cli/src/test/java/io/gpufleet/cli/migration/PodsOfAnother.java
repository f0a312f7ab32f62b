package io.gpufleet.cli.migration;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.util.concurrent.Callable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Does what the program of a stand-in would do, as long as its only pod runs. */
final class PodsOfAnother implements AutoCloseable, ResourceEventHandler<Pod> {
    private static final Logger LOG = LoggerFactory.getLogger(PodsOfAnother.class);
    private static final AutoCloseable NOTHING = () -> {};

    private final Callable<AutoCloseable> program;
    private final SharedIndexInformer<Pod> informer;
    private String pod = "";
    private AutoCloseable running = NOTHING;

    /** Starts a program for the pod that has the label {@code name}, and ends it with the pod. */
    PodsOfAnother(KubernetesClient client, String namespace, String name, Callable<AutoCloseable> program) {
        this.program = program;
        this.informer =
                client.pods().inNamespace(namespace).withLabel("name", name).inform(this);
    }

    @Override
    public void onAdd(Pod found) {
        follow(found);
    }

    @Override
    public void onUpdate(Pod before, Pod now) {
        follow(now);
    }

    @Override
    public void onDelete(Pod gone, boolean unknown) {
        end(gone.getMetadata().getUid());
    }

    private void follow(Pod found) {
        String uid = found.getMetadata().getUid();
        if (found.getMetadata().getDeletionTimestamp() != null) {
            end(uid);
        } else if (found.getStatus().getPhase().equals("Running") && !pod.equals(uid)) {
            end(pod);
            start(uid);
        }
    }

    private void start(String uid) {
        try {
            running = program.call();
            pod = uid;
        } catch (Exception failed) {
            LOG.atError().setCause(failed).log("a stand-in did not start");
        }
    }

    private void end(String uid) {
        if (pod.equals(uid)) {
            pod = "";
            try {
                running.close();
            } catch (Exception failed) {
                LOG.atError().setCause(failed).log("a stand-in did not end");
            }
            running = NOTHING;
        }
    }

    @Override
    public void close() {
        informer.close();
        end(pod);
    }
}
