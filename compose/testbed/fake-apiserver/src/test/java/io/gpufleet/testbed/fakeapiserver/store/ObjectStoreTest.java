package io.gpufleet.testbed.fakeapiserver.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpufleet.testbed.fakeapiserver.object.ApiError;
import io.gpufleet.testbed.fakeapiserver.object.GroupResource;
import io.gpufleet.testbed.fakeapiserver.object.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Revisions, compare-and-swap, and the history of watches. */
class ObjectStoreTest {
    private static final GroupResource NODES = new GroupResource("", "nodes");
    private static final GroupResource PODS = new GroupResource("", "pods");

    private final ObjectStore store = new ObjectStore(2);

    private ObjectNode create(GroupResource what, String name) {
        ObjectNode object = Json.object();
        object.putObject("metadata").put("name", name);
        return store.create(what, object);
    }

    @Test
    void revisionsCountOverAllResources() {
        // When
        ObjectNode node = create(NODES, "a");
        ObjectNode pod = create(PODS, "a");
        // Then
        assertThat(Long.parseLong(Json.text(pod, "metadata", "resourceVersion")))
                .isEqualTo(Long.parseLong(Json.text(node, "metadata", "resourceVersion")) + 1)
                .isEqualTo(store.revision());
    }

    @Test
    void staleWriterIsRefused() {
        // Given
        ObjectNode seen = create(NODES, "a");
        store.replace(NODES, seen, seen);
        // When
        Optional<ObjectNode> late = store.replace(NODES, seen, seen);
        // Then
        assertThat(late).isEmpty();
        assertThat(store.remove(NODES, seen, seen)).isFalse();
    }

    @Test
    void watchFromARevisionMissesNothingAndRepeatsNothing() {
        // Given
        create(NODES, "before");
        long known = store.revision();
        create(NODES, "past");
        List<String> seen = new ArrayList<>();
        // When
        Runnable end = store.watch(NODES, known, change -> seen.add(change.kind() + " " + Json.name(change.object())));
        create(NODES, "coming");
        create(PODS, "elsewhere");
        end.run();
        create(NODES, "after");
        // Then
        assertThat(seen).containsExactly("ADDED past", "ADDED coming");
    }

    @Test
    void watchFromRevisionZeroStartsWithExistingObjects() {
        // Given
        create(NODES, "b");
        create(NODES, "a");
        List<String> seen = new ArrayList<>();
        // When
        store.watch(NODES, 0, change -> seen.add(Json.name(change.object())));
        // Then
        assertThat(seen).containsExactly("a", "b");
    }

    @Test
    void watchFromCompactedOrFutureRevisionIsGone() {
        // Given
        ObjectNode first = create(NODES, "first");
        long old = store.revision();
        create(NODES, "second");
        create(NODES, "third");
        create(NODES, "fourth");
        // Then
        assertThat(Json.name(first)).isEqualTo("first");
        assertGone(old);
        assertGone(store.revision() + 1);
    }

    private void assertGone(long revision) {
        assertThatThrownBy(() -> store.watch(NODES, revision, change -> {}))
                .isInstanceOfSatisfying(ApiError.class, error -> {
                    assertThat(error.code()).isEqualTo(410);
                    assertThat(Json.text(error.status(), "reason")).isEqualTo("Expired");
                });
    }

    @Test
    void deletionHasLastStateWithItsOwnRevision() {
        // Given
        ObjectNode node = create(NODES, "a");
        List<ObjectChange> seen = new ArrayList<>();
        store.watch(NODES, store.revision(), seen::add);
        // When
        store.remove(NODES, node, node);
        // Then
        assertThat(seen).singleElement().satisfies(change -> {
            assertThat(change.kind()).isEqualTo(ObjectChange.ChangeType.DELETED);
            assertThat(Json.text(change.object(), "metadata", "resourceVersion"))
                    .isEqualTo(Long.toString(store.revision()));
        });
        assertThat(store.list(NODES, "").objects()).isEmpty();
    }
}
