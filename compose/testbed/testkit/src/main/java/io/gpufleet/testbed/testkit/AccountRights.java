package io.gpufleet.testbed.testkit;

import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.ServiceAccountBuilder;
import io.fabric8.kubernetes.api.model.authentication.TokenRequestBuilder;
import io.fabric8.kubernetes.api.model.authorization.v1.SubjectAccessReviewBuilder;
import io.fabric8.kubernetes.api.model.rbac.ClusterRole;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBindingBuilder;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBuilder;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.fabric8.kubernetes.api.model.rbac.PolicyRuleBuilder;
import io.fabric8.kubernetes.api.model.rbac.Role;
import io.fabric8.kubernetes.api.model.rbac.RoleBindingBuilder;
import io.fabric8.kubernetes.api.model.rbac.RoleBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * A ServiceAccount of a real API server that may do what the roles of some manifests allow, and nothing else; each of its
 * rights can be taken away.
 */
public final class AccountRights implements AutoCloseable {
    private static final Duration TIMEOUT = Duration.ofSeconds(30);
    private static final String RBAC = "rbac.authorization.k8s.io";
    private static final String ACCOUNT = "limited";

    /**
     * One verb for one resource.
     *
     * @param resource with its subresource, for example {@code nodes/status}
     * @param name the only object, or empty for all
     * @param namespaced in the namespace of the account only
     */
    public record Right(String verb, String group, String resource, String name, boolean namespaced) {
        /** For example {@code get secrets gpufleet-ca}. */
        @Override
        public String toString() {
            return verb + " " + resource + (group.isEmpty() ? "" : "." + group) + (name.isEmpty() ? "" : " " + name);
        }
    }

    private final RealCluster cluster;
    private final KubernetesClient limited;
    private final String namespace;
    private final List<Right> rights;

    private AccountRights(RealCluster cluster, KubernetesClient limited, String namespace, List<Right> rights) {
        this.cluster = cluster;
        this.limited = limited;
        this.namespace = namespace;
        this.rights = List.copyOf(rights);
    }

    /** Creates the namespace with the account, and grants it the roles of these files that these names have. */
    public static AccountRights grant(String namespace, List<String> files, Predicate<String> roles)
            throws IOException {
        RealCluster cluster = RealCluster.open();
        KubernetesClient admin = cluster.client();
        admin.resource(new NamespaceBuilder()
                        .withNewMetadata()
                        .withName(namespace)
                        .endMetadata()
                        .build())
                .create();
        admin.resource(new ServiceAccountBuilder()
                        .withNewMetadata()
                        .withName(ACCOUNT)
                        .withNamespace(namespace)
                        .endMetadata()
                        .build())
                .create();
        String token = admin.serviceAccounts()
                .inNamespace(namespace)
                .withName(ACCOUNT)
                .tokenRequest(new TokenRequestBuilder()
                        .withNewSpec()
                        .withExpirationSeconds(3600L)
                        .endSpec()
                        .build())
                .getStatus()
                .getToken();
        Config administrator = admin.getConfiguration();
        Config config = new ConfigBuilder(Config.empty())
                .withMasterUrl(administrator.getMasterUrl())
                .withCaCertData(administrator.getCaCertData())
                .withCaCertFile(administrator.getCaCertFile())
                .withOauthToken(token)
                .withRequestRetryBackoffLimit(0)
                .build();
        var account = new AccountRights(
                cluster,
                new KubernetesClientBuilder().withConfig(config).build(),
                namespace,
                read(admin, files, roles));
        account.bind();
        account.write(account.rights);
        account.rights.forEach(right -> account.awaitAllowed(right, true));
        return account;
    }

    private static List<Right> read(KubernetesClient admin, List<String> files, Predicate<String> roles)
            throws IOException {
        var rights = new ArrayList<Right>();
        for (String file : files) {
            try (InputStream yaml = Files.newInputStream(Repository.module(file))) {
                for (HasMetadata object : admin.load(yaml).items()) {
                    if (!roles.test(object.getMetadata().getName())) {
                        continue;
                    }
                    if (object instanceof ClusterRole role) {
                        role.getRules().forEach(rule -> rights.addAll(rights(rule, false)));
                    } else if (object instanceof Role role) {
                        role.getRules().forEach(rule -> rights.addAll(rights(rule, true)));
                    }
                }
            }
        }
        return rights;
    }

    private static List<Right> rights(PolicyRule rule, boolean namespaced) {
        List<String> names =
                rule.getResourceNames() == null || rule.getResourceNames().isEmpty()
                        ? List.of("")
                        : rule.getResourceNames();
        return rule.getApiGroups().stream()
                .flatMap(group -> rule.getResources().stream()
                        .flatMap(resource -> names.stream()
                                .flatMap(name -> rule.getVerbs().stream()
                                        .map(verb -> new Right(verb, group, resource, name, namespaced)))))
                .toList();
    }

    /** Client with the token of the account. */
    public KubernetesClient client() {
        return limited;
    }

    /** Client of an administrator. */
    public KubernetesClient admin() {
        return cluster.client();
    }

    /** Namespace of the account. */
    public String namespace() {
        return namespace;
    }

    /** Creates a Node with the name of the namespace, on which nothing is scheduled; it is deleted with the account. */
    public Node createNode() {
        return admin().resource(new NodeBuilder()
                        .withNewMetadata()
                        .withName(namespace)
                        .endMetadata()
                        .withNewSpec()
                        .addNewTaint("NoSchedule", "gpufleet.io/it", null, "rights")
                        .endSpec()
                        .build())
                .create();
    }

    /** Deletes a definition of a resource, and waits until another test can make it anew. */
    public void removeDefinition(String name) {
        var definition =
                admin().apiextensions().v1().customResourceDefinitions().withName(name);
        definition.delete();
        await().atMost(TIMEOUT).until(() -> definition.get() == null);
    }

    /**
     * Takes every right away and gives it back. A need returns the line with which its program fails, or an empty text; it
     * must work with its right, and name verb, resource and remedy without it. What is wrong, one line for each right: also
     * those that nothing needs, and needs without a right.
     */
    public List<String> findings(Map<String, Supplier<String>> needs) {
        var findings = new ArrayList<String>();
        var unknown = new TreeSet<>(needs.keySet());
        for (Right right : rights) {
            unknown.remove(right.toString());
            Supplier<String> need = needs.get(right.toString());
            if (need == null) {
                findings.add(right + ": nothing needs it");
                continue;
            }
            String with = need.get();
            if (!with.isEmpty()) {
                findings.add(right + ": with it: " + with);
            }
            write(rights.stream().filter(other -> !other.equals(right)).toList());
            awaitAllowed(right, false);
            String without = need.get();
            if (!names(right, without)) {
                findings.add(right + ": without it: " + (without.isEmpty() ? "works" : without));
            }
            write(rights);
            awaitAllowed(right, true);
        }
        unknown.forEach(right -> findings.add(right + ": no rule of the manifests"));
        return findings;
    }

    private static boolean names(Right right, String line) {
        return line.contains("cannot " + right.verb() + " resource \"" + right.resource() + "\"")
                && line.contains("the manifests of this release grant that")
                && line.lines().count() == 1;
    }

    private void bind() {
        admin().resource(new ClusterRoleBindingBuilder()
                        .withNewMetadata()
                        .withName(namespace)
                        .endMetadata()
                        .withNewRoleRef(RBAC, "ClusterRole", namespace)
                        .addNewSubject("", "ServiceAccount", ACCOUNT, namespace)
                        .build())
                .create();
        admin().resource(new RoleBindingBuilder()
                        .withNewMetadata()
                        .withName(namespace)
                        .withNamespace(namespace)
                        .endMetadata()
                        .withNewRoleRef(RBAC, "Role", namespace)
                        .addNewSubject("", "ServiceAccount", ACCOUNT, namespace)
                        .build())
                .create();
    }

    private void write(List<Right> granted) {
        admin().resource(new ClusterRoleBuilder()
                        .withNewMetadata()
                        .withName(namespace)
                        .endMetadata()
                        .withRules(rules(granted, false))
                        .build())
                .createOr(edit -> edit.update());
        admin().resource(new RoleBuilder()
                        .withNewMetadata()
                        .withName(namespace)
                        .withNamespace(namespace)
                        .endMetadata()
                        .withRules(rules(granted, true))
                        .build())
                .createOr(edit -> edit.update());
    }

    private static List<PolicyRule> rules(List<Right> granted, boolean namespaced) {
        Map<String, PolicyRuleBuilder> byObject = new TreeMap<>();
        granted.stream()
                .filter(right -> right.namespaced() == namespaced)
                .forEach(right -> byObject.computeIfAbsent(
                                right.group() + "/" + right.resource() + " " + right.name(), object -> {
                                    var rule = new PolicyRuleBuilder()
                                            .addToApiGroups(right.group())
                                            .addToResources(right.resource());
                                    return right.name().isEmpty() ? rule : rule.addToResourceNames(right.name());
                                })
                        .addToVerbs(right.verb()));
        return byObject.values().stream().map(PolicyRuleBuilder::build).toList();
    }

    /** The API server learns of a role by a watch of its own. */
    private void awaitAllowed(Right right, boolean expected) {
        String[] resource = right.resource().split("/");
        var review = new SubjectAccessReviewBuilder()
                .withNewSpec()
                .withUser("system:serviceaccount:" + namespace + ":" + ACCOUNT)
                .withNewResourceAttributes()
                .withNamespace(right.namespaced() ? namespace : "")
                .withGroup(right.group())
                .withResource(resource[0])
                .withSubresource(Stream.of(resource).skip(1).findFirst().orElse(""))
                .withName(right.name())
                .withVerb(right.verb())
                .endResourceAttributes()
                .endSpec()
                .build();
        await(right + " allowed: " + expected)
                .pollInterval(Duration.ofMillis(20))
                .atMost(TIMEOUT)
                .until(() -> Boolean.TRUE.equals(admin().authorization()
                                .v1()
                                .subjectAccessReview()
                                .create(review)
                                .getStatus()
                                .getAllowed())
                        == expected);
    }

    @Override
    public void close() {
        admin().rbac().clusterRoleBindings().withName(namespace).delete();
        admin().rbac().clusterRoles().withName(namespace).delete();
        admin().nodes().withName(namespace).delete();
        admin().namespaces().withName(namespace).delete();
        limited.close();
        cluster.close();
    }
}
