package io.gpufleet.testbed.fakeapiserver;

import static io.gpufleet.testbed.fakeapiserver.TestObjects.refusal;
import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.GenericKubernetesResourceBuilder;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinitionBuilder;
import io.fabric8.kubernetes.api.model.authentication.TokenReview;
import io.fabric8.kubernetes.api.model.authentication.TokenReviewBuilder;
import io.fabric8.kubernetes.api.model.authorization.v1.SubjectAccessReview;
import io.fabric8.kubernetes.api.model.authorization.v1.SubjectAccessReviewBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Contract of tokens, permissions and custom resources. */
interface ReviewContract {
    TestObjects testObjects();

    /** A token that the server knows. */
    String knownToken();

    private KubernetesClient client() {
        return testObjects().client();
    }

    @Test
    default void knownTokenIsAUser() {
        // When
        TokenReview review = review(knownToken());
        // Then
        assertThat(review.getStatus().getAuthenticated()).isTrue();
        assertThat(review.getStatus().getUser().getUsername()).isNotBlank();
        assertThat(review.getStatus().getUser().getGroups()).contains("system:authenticated");
    }

    @Test
    default void unknownTokenIsNotAuthenticated() {
        // When
        TokenReview review = review("nobody-gave-me-this");
        // Then
        assertThat(review.getStatus().getAuthenticated()).isNotEqualTo(true);
        assertThat(review.getStatus().getError()).contains("invalid bearer token");
    }

    private TokenReview review(String token) {
        return client().tokenReviews()
                .create(new TokenReviewBuilder()
                        .withNewSpec()
                        .withToken(token)
                        .endSpec()
                        .build());
    }

    @Test
    default void mastersAreAllowedAndOthersDenied() {
        // When
        SubjectAccessReview master = mayPatchNodes("somebody", "system:masters");
        SubjectAccessReview stranger = mayPatchNodes("somebody", "system:authenticated");
        // Then
        assertThat(master.getStatus().getAllowed()).isTrue();
        assertThat(stranger.getStatus().getAllowed()).isFalse();
    }

    private SubjectAccessReview mayPatchNodes(String user, String group) {
        return client().authorization()
                .v1()
                .subjectAccessReview()
                .create(new SubjectAccessReviewBuilder()
                        .withNewSpec()
                        .withUser(user)
                        .withGroups(group)
                        .withNewResourceAttributes()
                        .withVerb("patch")
                        .withResource("nodes")
                        .endResourceAttributes()
                        .endSpec()
                        .build());
    }

    @Test
    default void definedResourceIsServed() {
        // Given
        String group = testObjects().namespace() + ".gpufleet.io";
        CustomResourceDefinition definition =
                testObjects().deleteOnClose(client().resource(definition(group)).create());
        Awaitility.await()
                .atMost(TestObjects.TIMEOUT)
                .untilAsserted(() -> assertThat(
                                client().resource(definition).get().getStatus().getConditions())
                        .anyMatch(condition -> condition.getType().equals("Established")
                                && condition.getStatus().equals("True")));
        var quotas = client().genericKubernetesResources(new ResourceDefinitionContext.Builder()
                .withGroup(group)
                .withVersion("v1alpha1")
                .withKind("Quota")
                .withPlural("quotas")
                .withNamespaced(false)
                .build());
        GenericKubernetesResource wanted = new GenericKubernetesResourceBuilder()
                .withApiVersion(group + "/v1alpha1")
                .withKind("Quota")
                .withNewMetadata()
                .withName("team-a")
                .endMetadata()
                .addToAdditionalProperties("spec", Map.of("limit", 4))
                .addToAdditionalProperties("status", Map.of("used", 9))
                .build();
        // When
        Awaitility.await()
                .atMost(TestObjects.TIMEOUT)
                .ignoreExceptions()
                .until(() -> quotas.resource(wanted).create() != null);
        GenericKubernetesResource made = quotas.withName("team-a").get();
        quotas.withName("team-a")
                .subresource("status")
                .patch(
                        PatchContext.of(PatchType.JSON_MERGE),
                        "{\"spec\":{\"limit\":1},\"metadata\":{\"labels\":{\"a\":\"b\"}},\"status\":{\"used\":2}}");
        GenericKubernetesResource counted = quotas.withName("team-a").get();
        quotas.withName("team-a").patch(PatchContext.of(PatchType.JSON_MERGE), "{\"spec\":{\"limit\":5}}");
        var strategic = refusal(() -> quotas.withName("team-a")
                .patch(PatchContext.of(PatchType.STRATEGIC_MERGE), "{\"spec\":{\"limit\":6}}"));
        // Then
        assertThat(made.getAdditionalProperties()).doesNotContainKey("status");
        assertThat(counted.getAdditionalProperties())
                .containsEntry("spec", Map.of("limit", 4))
                .containsEntry("status", Map.of("used", 2));
        assertThat(counted.getMetadata().getLabels()).isNullOrEmpty();
        assertThat(counted.getMetadata().getGeneration()).isEqualTo(1);
        assertThat(quotas.withName("team-a").get().getMetadata().getGeneration())
                .isEqualTo(2);
        assertThat(strategic.getCode()).isEqualTo(415);
        quotas.withName("team-a").delete();
    }

    private static CustomResourceDefinition definition(String group) {
        return new CustomResourceDefinitionBuilder()
                .withNewMetadata()
                .withName("quotas." + group)
                .endMetadata()
                .withNewSpec()
                .withGroup(group)
                .withScope("Cluster")
                .withNewNames()
                .withKind("Quota")
                .withPlural("quotas")
                .withSingular("quota")
                .endNames()
                .addNewVersion()
                .withName("v1alpha1")
                .withServed(true)
                .withStorage(true)
                .withNewSchema()
                .withNewOpenAPIV3Schema()
                .withType("object")
                .withXKubernetesPreserveUnknownFields(true)
                .endOpenAPIV3Schema()
                .endSchema()
                .withNewSubresources()
                .withNewStatus()
                .endStatus()
                .endSubresources()
                .endVersion()
                .endSpec()
                .build();
    }
}
