package io.gpufleet.runtime.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.StatusBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.net.ConnectException;
import org.junit.jupiter.api.Test;

/** One line of a failed request. */
class ApiErrorMessageTest {
    private static final String RBAC =
            "nodes is forbidden: User \"system:serviceaccount:gpufleet-system:inventory-service\" cannot list resource"
                    + " \"nodes\" in API group \"\" at the cluster scope";

    private static KubernetesClientException refused(String message) {
        return new KubernetesClientException(
                "Failure executing: GET at: https://10.96.0.1/api/v1/nodes",
                403,
                new StatusBuilder().withCode(403).withMessage(message).build());
    }

    @Test
    void missingRightIsNamedWithWhatToDo() {
        assertThat(ApiErrorMessage.of(refused(RBAC)))
                .isEqualTo("403 " + RBAC + "; the manifests of this release grant that: apply them again");
    }

    @Test
    void missingRightIsFoundBelowTheFailureOfAnInformer() {
        assertThat(ApiErrorMessage.of(new IllegalStateException("cannot start", refused(RBAC))))
                .startsWith("403 " + RBAC);
    }

    /** As the client reports it: the server's text is lost with the connection. */
    @Test
    void refusedWatchIsNamedByItsUrl() {
        var refused = new KubernetesClientException(
                "Received 403 on websocket. Failure executing: GET at: https://10.96.0.1/apis/resource.k8s.io/v1"
                        + "/resourceclaims?allowWatchBookmarks=true&timeoutSeconds=600&watch=true. Message: Forbidden.",
                403,
                new StatusBuilder().withCode(403).withMessage("Forbidden").build());

        assertThat(ApiErrorMessage.of(refused))
                .isEqualTo("403 Forbidden: cannot watch resource \"resourceclaims\";"
                        + " the manifests of this release grant that: apply them again");
    }

    @Test
    void refusalOfAnAdmissionIsNoMissingRight() {
        assertThat(ApiErrorMessage.of(refused("pods \"a\" is forbidden: exceeded quota: team")))
                .isEqualTo("403 pods \"a\" is forbidden: exceeded quota: team");
    }

    @Test
    void serverThatDoesNotAnswerIsSaidByTheInnermostCause() {
        assertThat(ApiErrorMessage.of(new KubernetesClientException(
                        "Operation: [list] failed.", new ConnectException("Connection refused\nmore"))))
                .isEqualTo("Connection refused");
    }
}
