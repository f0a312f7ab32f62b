package io.gpufleet.testbed.fakeapiserver.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpufleet.testbed.fakeapiserver.object.GroupResource;
import io.gpufleet.testbed.fakeapiserver.object.Json;
import io.gpufleet.testbed.fakeapiserver.store.ObjectStore;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Which changes have the scheduler look at all pods. No Node is there, so that each look reports every pod that waits. */
class SchedulerTest {
    private static final GroupResource PODS = new GroupResource("", "pods");
    private static final int RUNNING = 50;

    private final ObjectStore store = new ObjectStore(1_000);
    private final BlockingQueue<String> reported = new LinkedBlockingQueue<>();
    private final Scheduler.SchedulerClient client = new Scheduler.SchedulerClient() {
        @Override
        public void bind(ObjectNode pod, String node) {
            throw new AssertionError("there is no node");
        }

        @Override
        public void reportUnschedulable(ObjectNode pod, String message) {
            reported.add(Json.name(pod));
        }
    };

    private static ObjectNode pod(String name, String node) {
        ObjectNode pod = Json.object();
        pod.putObject("metadata").put("name", name).put("namespace", "default");
        pod.putObject("spec").put("schedulerName", "default-scheduler").put("nodeName", node);
        return pod;
    }

    private List<String> next(int number) throws InterruptedException {
        List<String> names = new ArrayList<>();
        for (int i = 0; i < number; i++) {
            String name = reported.poll(30, TimeUnit.SECONDS);
            assertThat(name).isNotNull();
            names.add(name);
        }
        return names;
    }

    @Test
    void podThatRunsIsNoReasonToLookAtAllOfThem() throws Exception {
        store.create(PODS, pod("waits", ""));
        try (var _ = Scheduler.start(store, client)) {
            assertThat(next(1)).containsExactly("waits");
            // When
            for (int i = 0; i < RUNNING; i++) {
                ObjectNode running = store.create(PODS, pod("runs-" + i, "node-1"));
                ObjectNode ready = running.deepCopy();
                ready.putObject("status").put("phase", "Running");
                store.replace(PODS, running, ready);
            }
            store.create(PODS, pod("waits-too", ""));
            // Then
            assertThat(next(2)).containsExactly("waits", "waits-too");
        }
    }

    @Test
    void podThatEndsOrGoesMakesRoom() throws Exception {
        store.create(PODS, pod("waits", ""));
        ObjectNode ends = store.create(PODS, pod("ends", "node-1"));
        ObjectNode goes = store.create(PODS, pod("goes", "node-1"));
        try (var _ = Scheduler.start(store, client)) {
            assertThat(next(1)).containsExactly("waits");
            // When
            ObjectNode ended = ends.deepCopy();
            ended.putObject("status").put("phase", "Succeeded");
            store.replace(PODS, ends, ended);
            // Then
            assertThat(next(1)).containsExactly("waits");
            // When
            store.remove(PODS, goes, goes);
            // Then
            assertThat(next(1)).containsExactly("waits");
        }
    }
}
