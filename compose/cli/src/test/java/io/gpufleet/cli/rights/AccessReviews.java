package io.gpufleet.cli.rights;

import io.fabric8.kubernetes.api.model.authorization.v1.ResourceAttributes;
import io.fabric8.kubernetes.api.model.authorization.v1.SubjectAccessReviewBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;

/** Asks the API server what somebody may do. */
final class AccessReviews {
    private AccessReviews() {}

    /** Whether a user may do what the attributes say. */
    static boolean allows(KubernetesClient client, String user, ResourceAttributes attributes) {
        var review = new SubjectAccessReviewBuilder()
                .withNewSpec()
                .withUser(user)
                .withResourceAttributes(attributes)
                .endSpec()
                .build();
        return Boolean.TRUE.equals(client.authorization()
                .v1()
                .subjectAccessReview()
                .create(review)
                .getStatus()
                .getAllowed());
    }
}
