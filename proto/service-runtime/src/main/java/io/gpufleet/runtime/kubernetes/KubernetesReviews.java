package io.gpufleet.runtime.kubernetes;

import io.fabric8.kubernetes.api.model.authentication.TokenReview;
import io.fabric8.kubernetes.api.model.authentication.TokenReviewBuilder;
import io.fabric8.kubernetes.api.model.authentication.TokenReviewStatus;
import io.fabric8.kubernetes.api.model.authentication.UserInfo;
import io.fabric8.kubernetes.api.model.authorization.v1.SubjectAccessReview;
import io.fabric8.kubernetes.api.model.authorization.v1.SubjectAccessReviewBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpufleet.kit.web.Authorizer.AccessRequest;
import java.util.List;
import java.util.Objects;

/**
 * Asks the API server by TokenReview and SubjectAccessReview.
 *
 * @param client closed by the caller
 */
record KubernetesReviews(KubernetesClient client) implements Reviews {
    @Override
    public Authentication authenticate(String token) {
        TokenReview review = client.tokenReviews()
                .create(new TokenReviewBuilder()
                        .withNewSpec()
                        .withToken(token)
                        .endSpec()
                        .build());
        TokenReviewStatus status = Objects.requireNonNullElse(review.getStatus(), new TokenReviewStatus());
        UserInfo user = status.getUser();
        return Boolean.TRUE.equals(status.getAuthenticated()) && user != null
                ? new Authentication.Authenticated(new User(
                        String.valueOf(user.getUsername()), Objects.requireNonNullElse(user.getGroups(), List.of())))
                : new Authentication.Refused(TokenRefusal.of(Objects.requireNonNullElse(status.getError(), "")));
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
