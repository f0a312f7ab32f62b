package io.gpufleet.testbed.fakeapiserver;

import static io.gpufleet.testbed.fakeapiserver.TestObjects.refusal;
import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.ConfigMapList;
import io.fabric8.kubernetes.api.model.ListOptionsBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.Watch;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Contract of objects: create, get, list, update, watch, delete. */
interface ObjectsContract {
    TestObjects testObjects();

    private KubernetesClient client() {
        return testObjects().client();
    }

    private ConfigMap read(ConfigMap map) {
        return client().resource(map).get();
    }

    /** Updates the current object, whatever version the test has. */
    private void edit(ConfigMap map, UnaryOperator<ConfigMap> change) {
        client().configMaps()
                .inNamespace(testObjects().namespace())
                .withName(map.getMetadata().getName())
                .edit(change);
    }

    @Test
    default void newObjectHasIdentity() {
        // When
        ConfigMap made = client().configMaps()
                .inNamespace(testObjects().namespace())
                .resource(new ConfigMapBuilder()
                        .withNewMetadata()
                        .withGenerateName("made-")
                        .endMetadata()
                        .build())
                .create();
        // Then
        assertThat(made.getMetadata().getName()).matches("made-[a-z0-9]{5}");
        assertThat(made.getMetadata().getUid()).hasSize(36);
        assertThat(made.getMetadata().getResourceVersion()).matches("[0-9]+");
        assertThat(made.getMetadata().getCreationTimestamp()).endsWith("Z");
    }

    @Test
    default void existingNameIsRefused() {
        // Given
        ConfigMap map = testObjects().configMap("twice", Map.of());
        ConfigMap again = new ConfigMapBuilder(map)
                .editMetadata()
                .withResourceVersion(null)
                .withUid(null)
                .endMetadata()
                .build();
        // When
        var refused = refusal(() -> client().resource(again).create());
        // Then
        assertThat(refused.getCode()).isEqualTo(409);
        assertThat(refused.getStatus().getReason()).isEqualTo("AlreadyExists");
        assertThat(refused.getStatus().getMessage())
                .isEqualTo("configmaps \"" + map.getMetadata().getName() + "\" already exists");
    }

    @Test
    default void staleResourceVersionIsRefused() {
        // Given
        ConfigMap old = testObjects().configMap("stale", Map.of());
        edit(old, map -> new ConfigMapBuilder(map).addToData("a", "1").build());
        // When
        var refused = refusal(() -> client().resource(
                        new ConfigMapBuilder(old).addToData("a", "2").build())
                .update());
        // Then
        assertThat(refused.getCode()).isEqualTo(409);
        assertThat(refused.getStatus().getReason()).isEqualTo("Conflict");
        assertThat(refused.getStatus().getMessage())
                .isEqualTo("Operation cannot be fulfilled on configmaps \""
                        + old.getMetadata().getName()
                        + "\": the object has been modified; please apply your changes to the latest version and try"
                        + " again");
        assertThat(read(old).getData()).containsEntry("a", "1");
    }

    @Test
    default void updateThatChangesNothingKeepsTheResourceVersion() {
        // Given
        ConfigMap map = read(testObjects().configMap("same", Map.of()));
        // When
        ConfigMap updated = client().resource(map).update();
        // Then
        assertThat(updated.getMetadata().getResourceVersion())
                .isEqualTo(map.getMetadata().getResourceVersion());
    }

    @Test
    default void namespaceIsCreatedByTheProtobufOfKubectl() throws Exception {
        // Given what kubectl 1.34 sends for "kubectl create namespace team-b"
        String name = "ns-" + Integer.toString(ThreadLocalRandom.current().nextInt(1296, 46656), 36);
        String body = new String(
                        Base64.getDecoder()
                                .decode("azhzAAoPCgJ2MRIJTmFtZXNwYWNlEh4KFgoGdGVhbS1iEgAaACIAKgAyADgAQgASABoCCgAaACIA"),
                        StandardCharsets.ISO_8859_1)
                .replace("team-b", name);
        var request = client().getHttpClient()
                .newHttpRequestBuilder()
                .uri(client().getMasterUrl() + "api/v1/namespaces?fieldManager=kubectl-create")
                .header("Accept", "application/json")
                .post("application/vnd.kubernetes.protobuf", body.getBytes(StandardCharsets.ISO_8859_1))
                .build();
        try {
            // When
            var response =
                    client().getHttpClient().sendAsync(request, String.class).get();
            // Then
            assertThat(response.code()).as(response.body()).isEqualTo(201);
            assertThat(client().namespaces().withName(name).get().getStatus().getPhase())
                    .isEqualTo("Active");
        } finally {
            client().namespaces().withName(name).delete();
        }
    }

    @Test
    default void unknownNamespaceIsNamed() {
        // When
        var refused = refusal(() -> client().configMaps()
                .inNamespace("no-such-namespace")
                .resource(new ConfigMapBuilder()
                        .withNewMetadata()
                        .withName("a")
                        .endMetadata()
                        .build())
                .create());
        // Then
        assertThat(refused.getCode()).isEqualTo(404);
        assertThat(refused.getStatus().getMessage()).isEqualTo("namespaces \"no-such-namespace\" not found");
    }

    @Test
    default void invalidNameIsRefusedWithRule() {
        // When
        var refused = refusal(() -> client().configMaps()
                .inNamespace(testObjects().namespace())
                .resource(new ConfigMapBuilder()
                        .withNewMetadata()
                        .withName("Wrong_Name")
                        .endMetadata()
                        .build())
                .create());
        // Then
        assertThat(refused.getCode()).isEqualTo(422);
        assertThat(refused.getStatus().getMessage())
                .startsWith("ConfigMap \"Wrong_Name\" is invalid: metadata.name: Invalid value: \"Wrong_Name\": a"
                        + " lowercase RFC 1123 subdomain must consist of");
    }

    @Test
    default void labelsSelect() {
        // Given
        String a = testObjects()
                .configMap("a", Map.of("set", "one", "colour", "red"))
                .getMetadata()
                .getName();
        String b = testObjects()
                .configMap("b", Map.of("set", "one", "colour", "blue"))
                .getMetadata()
                .getName();
        String c =
                testObjects().configMap("c", Map.of("set", "one")).getMetadata().getName();
        // Then
        assertThat(names("set=one")).contains(a, b, c);
        assertThat(names("set=one,colour=red")).containsExactly(a);
        assertThat(names("set=one,colour!=red")).containsExactlyInAnyOrder(b, c);
        assertThat(names("set=one,colour in (red, blue)")).containsExactlyInAnyOrder(a, b);
        assertThat(names("set=one,colour notin (red)")).containsExactlyInAnyOrder(b, c);
        assertThat(names("set=one,!colour")).containsExactly(c);
        assertThat(names("set=one,colour")).containsExactlyInAnyOrder(a, b);
    }

    private Set<String> names(String labelSelector) {
        return Set.copyOf(client()
                .configMaps()
                .inNamespace(testObjects().namespace())
                .list(new ListOptionsBuilder().withLabelSelector(labelSelector).build())
                .getItems()
                .stream()
                .map(map -> map.getMetadata().getName())
                .toList());
    }

    @Test
    default void fieldsSelectOrAreRefused() {
        // Given
        String wanted =
                testObjects().configMap("wanted", Map.of()).getMetadata().getName();
        testObjects().configMap("other", Map.of());
        // When
        List<ConfigMap> found = client().configMaps()
                .inNamespace(testObjects().namespace())
                .withField("metadata.name", wanted)
                .list()
                .getItems();
        var refused = refusal(() -> client().configMaps()
                .inNamespace(testObjects().namespace())
                .withField("data.key", "value")
                .list());
        var refusedOfNodes =
                refusal(() -> client().nodes().withField("spec.foo", "x").list());
        // Then
        assertThat(found).extracting(map -> map.getMetadata().getName()).containsExactly(wanted);
        assertThat(refused.getCode()).isEqualTo(400);
        assertThat(refused.getStatus().getMessage())
                .isEqualTo(
                        "\"data.key\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"");
        assertThat(refusedOfNodes.getStatus().getMessage()).isEqualTo("field label not supported: spec.foo");
    }

    @Test
    default void listComesInPages() {
        // Given
        for (int i = 0; i < 5; i++) {
            testObjects().configMap("page", Map.of("paged", "yes"));
        }
        // When
        ConfigMapList first = page(null);
        testObjects().configMap("page", Map.of("paged", "yes"));
        ConfigMapList second = page(first.getMetadata().getContinue());
        ConfigMapList third = page(second.getMetadata().getContinue());
        // Then
        assertThat(first.getItems()).hasSize(2);
        assertThat(second.getItems()).hasSize(2);
        assertThat(third.getItems()).hasSize(1);
        assertThat(third.getMetadata().getContinue()).isNullOrEmpty();
    }

    private ConfigMapList page(@org.jspecify.annotations.Nullable String token) {
        return client().configMaps()
                .inNamespace(testObjects().namespace())
                .list(new ListOptionsBuilder()
                        .withLabelSelector("paged=yes")
                        .withLimit(2L)
                        .withContinue(token)
                        .build());
    }

    @Test
    default void finalizerDefersDeletion() {
        // Given
        ConfigMap map = testObjects().configMap("held", Map.of());
        edit(
                map,
                found -> new ConfigMapBuilder(found)
                        .editMetadata()
                        .addToFinalizers("gpufleet.io/hold")
                        .endMetadata()
                        .build());
        // When
        client().resource(map).delete();
        // Then
        assertThat(read(map).getMetadata().getDeletionTimestamp()).isNotBlank();
        edit(
                map,
                found -> new ConfigMapBuilder(found)
                        .editMetadata()
                        .withFinalizers()
                        .endMetadata()
                        .build());
        assertThat(read(map)).isNull();
    }

    @Test
    default void watchReportsEveryChangeInOrder() throws InterruptedException {
        // Given
        var seen = new LinkedBlockingQueue<String>();
        try (Watch watch = client().configMaps()
                .inNamespace(testObjects().namespace())
                .withLabel("watched", "yes")
                .watch(new RecordingWatcher(seen))) {
            // When
            ConfigMap map = testObjects().configMap("watched", Map.of("watched", "yes"));
            edit(map, found -> new ConfigMapBuilder(found).addToData("a", "1").build());
            edit(
                    map,
                    found -> new ConfigMapBuilder(found)
                            .editMetadata()
                            .addToLabels("watched", "no")
                            .endMetadata()
                            .build());
            edit(
                    map,
                    found -> new ConfigMapBuilder(found)
                            .editMetadata()
                            .addToLabels("watched", "yes")
                            .endMetadata()
                            .build());
            client().resource(map).delete();
            // Then
            assertThat(next(seen)).isEqualTo("ADDED");
            assertThat(next(seen)).isEqualTo("MODIFIED");
            assertThat(next(seen)).as("removed from the selection").isEqualTo("DELETED");
            assertThat(next(seen)).as("added to it again").isEqualTo("ADDED");
            assertThat(next(seen)).isEqualTo("DELETED");
        }
    }

    private static String next(LinkedBlockingQueue<String> seen) throws InterruptedException {
        return java.util.Objects.requireNonNullElse(
                seen.poll(TestObjects.TIMEOUT.toSeconds(), TimeUnit.SECONDS), "nothing came");
    }

    /** Puts the kind of every event into a queue. */
    record RecordingWatcher(LinkedBlockingQueue<String> seen) implements Watcher<ConfigMap> {
        @Override
        public void eventReceived(Action action, ConfigMap map) {
            seen.add(action.name());
        }

        @Override
        public void onClose(WatcherException cause) {
            seen.add("closed: " + cause);
        }
    }

    @Test
    default void informerHasExistingAndNewObjects() {
        // Given
        ConfigMap before = testObjects().configMap("before", Map.of("informed", "yes"));
        try (var informer = client().configMaps()
                .inNamespace(testObjects().namespace())
                .withLabel("informed", "yes")
                .inform()) {
            // When
            ConfigMap after = testObjects().configMap("after", Map.of("informed", "yes"));
            client().resource(before).delete();
            // Then
            Awaitility.await()
                    .atMost(TestObjects.TIMEOUT)
                    .untilAsserted(() -> assertThat(informer.getStore().list())
                            .extracting(map -> map.getMetadata().getName())
                            .containsExactly(after.getMetadata().getName()));
        }
    }
}
