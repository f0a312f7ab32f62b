package io.gpufleet.runtime.kubernetes;

import io.fabric8.kubernetes.api.model.authentication.TokenReview;
import io.fabric8.kubernetes.api.model.authentication.TokenReviewBuilder;
import io.fabric8.kubernetes.api.model.authorization.v1.SubjectAccessReview;
import io.fabric8.kubernetes.api.model.authorization.v1.SubjectAccessReviewBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpufleet.kit.web.Authorizer.AccessRequest;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * Asks the API server by TokenReview and SubjectAccessReview.
 *
 * @param client closed by the caller
 */
record KubernetesReviews(KubernetesClient client) implements Reviews {
    @Override
    public Optional<User> user(String token) {
        TokenReview review = client.tokenReviews()
                .create(new TokenReviewBuilder()
                        .withNewSpec()
                        .withToken(token)
                        .endSpec()
                        .build());
        return Optional.ofNullable(review.getStatus())
                .filter(status -> Boolean.TRUE.equals(status.getAuthenticated()))
                .flatMap(status -> Optional.ofNullable(status.getUser()))
                .map(info -> new User(
                        String.valueOf(info.getUsername()), Objects.requireNonNullElse(info.getGroups(), List.of())));
    }

    @Override
    public boolean allowed(User user, AccessRequest request) {
        SubjectAccessReview review = client.authorization()
                .v1()
                .subjectAccessReview()
                .create(new SubjectAccessReviewBuilder()
                        .withNewSpec()
                        .withUser(user.name())
                        .withGroups(user.groups())
                        .withNewResourceAttributes()
                        .withGroup(request.group())
                        .withResource(request.resource())
                        .withVerb(request.verb())
                        .withNamespace(request.namespace())
                        .withName(request.name())
                        .endResourceAttributes()
                        .endSpec()
                        .build());
        return review.getStatus() != null
                && Boolean.TRUE.equals(review.getStatus().getAllowed());
    }
}
