package io.gpufleet.health.kubernetes;

import io.fabric8.kubernetes.api.model.authentication.TokenReview;
import io.fabric8.kubernetes.api.model.authentication.TokenReviewBuilder;
import io.fabric8.kubernetes.api.model.authentication.UserInfo;
import io.fabric8.kubernetes.api.model.authorization.v1.SubjectAccessReview;
import io.fabric8.kubernetes.api.model.authorization.v1.SubjectAccessReviewBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpufleet.health.app.Authorizer;
import java.util.List;
import java.util.Objects;

/** Authenticates tokens by TokenReview and authorizes users by SubjectAccessReview. */
public final class KubernetesAuthorizer implements Authorizer {
    private final KubernetesClient client;

    /** Uses the client, which the caller closes. */
    public KubernetesAuthorizer(KubernetesClient client) {
        this.client = client;
    }

    @Override
    public AccessResult authorize(String token, AccessRequest request) {
        try {
            TokenReview review = client.tokenReviews()
                    .create(new TokenReviewBuilder()
                            .withNewSpec()
                            .withToken(token)
                            .endSpec()
                            .build());
            if (review.getStatus() == null
                    || !Boolean.TRUE.equals(review.getStatus().getAuthenticated())
                    || review.getStatus().getUser() == null) {
                return new AccessResult.Unauthenticated();
            }
            return reviewAccess(review.getStatus().getUser(), request);
        } catch (KubernetesClientException failed) {
            return new AccessResult.Unavailable(ApiErrors.oneLine(failed));
        }
    }

    private AccessResult reviewAccess(UserInfo user, AccessRequest request) {
        List<String> groups = Objects.requireNonNullElse(user.getGroups(), List.of());
        SubjectAccessReview review = client.authorization()
                .v1()
                .subjectAccessReview()
                .create(new SubjectAccessReviewBuilder()
                        .withNewSpec()
                        .withUser(user.getUsername())
                        .withGroups(groups)
                        .withNewResourceAttributes()
                        .withGroup("gpufleet.io")
                        .withResource(request.resource())
                        .withVerb(request.verb())
                        .withName(request.name())
                        .endResourceAttributes()
                        .endSpec()
                        .build());
        boolean allowed = review.getStatus() != null
                && Boolean.TRUE.equals(review.getStatus().getAllowed());
        return allowed
                ? new AccessResult.Allowed(user.getUsername())
                : new AccessResult.Forbidden(
                        user.getUsername(),
                        "not allowed to " + request.verb() + " " + request.resource() + ".gpufleet.io/"
                                + request.name());
    }
}
