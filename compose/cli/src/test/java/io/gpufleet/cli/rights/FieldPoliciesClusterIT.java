package io.gpufleet.cli.rights;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.cli.install.Installation;
import io.gpufleet.cli.install.Kubectl;
import io.gpufleet.testbed.testkit.CommandOutput;
import io.gpufleet.testbed.testkit.Repository;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The API server's admission policies: a service changes its own fields of a Node or namespace, and no others. */
class FieldPoliciesClusterIT {
    private static final String NODE = "field-policies";
    private static final String NAMESPACE = "field-policies";
    private static final String READER = "field-policies-reader";
    private static final List<String> SERVICES = List.of("inventory-service", "health-service", "allocation-service");
    private static final String POLICIES =
            Repository.module("k8s/base/services/admission/field-policies.yaml").toString();

    @BeforeAll
    static void apply() {
        Kubectl.run("create", "namespace", Installation.SERVICES);
        SERVICES.forEach(service -> Kubectl.run("-n", Installation.SERVICES, "apply", "-f", file(service)));
        Kubectl.run("create", "namespace", NAMESPACE);
        Kubectl.run("create", "--raw", "/api/v1/nodes", "-f", node());
        Kubectl.run("taint", "node", NODE, "example.com/rack=burning:NoSchedule");
        // kubectl reads what it patches, the services do not.
        Kubectl.run("create", "clusterrole", READER, "--verb=get", "--resource=nodes,nodes/status,namespaces");
        Kubectl.run(
                "create",
                "clusterrolebinding",
                READER,
                "--clusterrole=" + READER,
                "--serviceaccount=" + Installation.SERVICES + ":health-service",
                "--serviceaccount=" + Installation.SERVICES + ":inventory-service",
                "--serviceaccount=" + Installation.SERVICES + ":allocation-service");
        Kubectl.run("apply", "-f", POLICIES);
        // A policy is compiled and in force some seconds after it was written.
        await().atMost(Duration.ofSeconds(60))
                .until(() -> patch(
                                        "health-service",
                                        "nodes",
                                        "{'metadata':{'labels':{'probe':'" + System.nanoTime() + "'}}}")
                                .status()
                        != 0);
    }

    @AfterAll
    static void remove() {
        Kubectl.run("delete", "-f", POLICIES);
        Kubectl.run("delete", "node", NODE);
        Kubectl.run("delete", "clusterrole,clusterrolebinding", READER);
        SERVICES.forEach(service -> Kubectl.run("-n", Installation.SERVICES, "delete", "-f", file(service)));
        Kubectl.run("delete", "namespace", Installation.SERVICES, NAMESPACE, "--wait=true", "--timeout=60s");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
        health-service     | nodes        | {'metadata':{'labels':{'gpufleet.io/health':'unhealthy'}}}
        health-service     | nodes        | {'metadata':{'annotations':{'gpufleet.io/applied':'{}'}}}
        health-service     | nodes        | [{'op':'add','path':'/spec/taints/-','value':{'key':'gpufleet.io/unhealthy','value':'Xid','effect':'NoSchedule'}}]
        health-service     | nodes/status | {'status':{'conditions':[{'type':'GpuUnhealthy','status':'True','reason':'Xid'}]}}
        health-service     | nodes        | {'metadata':{'annotations':{'gpufleet.io/applied':'{\\'cordon\\':true}'}},'spec':{'unschedulable':true}}
        health-service     | nodes        | {'metadata':{'annotations':{'gpufleet.io/applied':'{}'}},'spec':{'unschedulable':null}}
        inventory-service  | nodes        | {'metadata':{'labels':{'nvidia.com/gpu.count':'8'}}}
        inventory-service  | nodes        | {'metadata':{'labels':{'gpu-type':'h100','gpu-memory':'80Gi','accelerator':'nvidia-h100'}}}
        inventory-service  | nodes        | {'metadata':{'labels':{'alpha.kubernetes.io/nvidia-gpu-name':'H100'}}}
        inventory-service  | nodes        | {'metadata':{'annotations':{'nvidia.com/gpu.product':'a long name'}}}
        inventory-service  | nodes        | {'metadata':{'annotations':{'gpufleet.io/applied-node-taints':'nvidia.com/gpu=present:NoSchedule'}}}
        inventory-service  | nodes        | [{'op':'add','path':'/spec/taints/-','value':{'key':'nvidia.com/gpu','value':'present','effect':'NoSchedule'}}]
        allocation-service | namespaces   | {'metadata':{'labels':{'gpufleet.io/quota':'enforced'}}}
        """)
    void serviceChangesItsOwnFields(String service, String resource, String change) {
        CommandOutput output = patch(service, resource, change);

        assertThat(output.status()).as(output.text()).isZero();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
        health-service     | nodes        | {'metadata':{'labels':{'nvidia.com/gpu.count':'9'}}}        | labels of their own prefixes
        health-service     | nodes        | {'metadata':{'labels':{'rack':null}}}                       | labels of their own prefixes
        health-service     | nodes        | {'metadata':{'annotations':{'example.com/owner':'nobody'}}} | annotations of their own prefixes
        health-service     | nodes        | {'spec':{'taints':[]}}                                      | taints of their own prefixes
        health-service     | nodes        | {'spec':{'unschedulable':true}}                             | lift no other cordon
        inventory-service  | nodes        | {'metadata':{'annotations':{'gpufleet.io/applied':'{\\'cordon\\':true}'}},'spec':{'unschedulable':true}} | lift no other cordon
        health-service     | nodes/status | {'status':{'conditions':[{'type':'Ready','status':'True'}]}} | condition GpuUnhealthy
        health-service     | nodes/status | {'status':{'allocatable':{'nvidia.com/gpu':'1000'}}}        | can allocate
        inventory-service  | nodes        | {'metadata':{'labels':{'rack':'none'}}}                     | labels of their own prefixes
        inventory-service  | nodes        | [{'op':'add','path':'/spec/taints/-','value':{'key':'example.com/gpu','value':'present','effect':'NoSchedule'}}] | taints of their own prefixes
        allocation-service | namespaces   | {'metadata':{'labels':{'pod-security.kubernetes.io/enforce':'privileged'}}} | labels gpufleet.io/*
        health-service     | nodes        | {'metadata':{'ownerReferences':[{'apiVersion':'v1','kind':'Node','name':'absent','uid':'0'}]}} | metadata of a Node
        health-service     | nodes/status | {'metadata':{'ownerReferences':[{'apiVersion':'v1','kind':'Node','name':'absent','uid':'0'}]}} | metadata of a Node
        inventory-service  | nodes        | {'metadata':{'finalizers':['example.com/kept']}}            | metadata of a Node
        inventory-service  | nodes        | {'spec':{'providerID':'cloud://another-machine'}}           | the spec of a Node
        health-service     | nodes/status | {'status':{'addresses':[{'type':'InternalIP','address':'192.0.2.66'}]}} | its addresses
        health-service     | nodes/status | {'status':{'daemonEndpoints':{'kubeletEndpoint':{'Port':10666}}}} | its addresses
        health-service     | nodes/status | {'status':{'capacity':{'nvidia.com/gpu':'1000'}}}           | can allocate
        health-service     | nodes/status | {'status':{'images':[]}}                                    | its addresses
        allocation-service | namespaces   | {'metadata':{'ownerReferences':[{'apiVersion':'v1','kind':'Node','name':'absent','uid':'0'}]}} | metadata of a namespace
        allocation-service | namespaces   | {'metadata':{'finalizers':['example.com/kept']}}            | metadata of a namespace
        """)
    void serviceChangesNoOtherField(String service, String resource, String change, String reason) {
        CommandOutput output = patch(service, resource, change);

        assertThat(output.status()).as(output.text()).isNotZero();
        assertThat(output.text()).contains(reason);
    }

    private static CommandOutput patch(String service, String resource, String change) {
        String[] path = resource.split("/");
        var command = new ArrayList<>(List.of("patch", path[0], path[0].equals("nodes") ? NODE : NAMESPACE));
        if (path.length > 1) {
            command.add("--subresource=" + path[1]);
        }
        // A list is a JSON patch.
        command.add(change.startsWith("[") ? "--type=json" : "--type=strategic");
        command.addAll(List.of(
                "--as=system:serviceaccount:" + Installation.SERVICES + ":" + service,
                "-p=" + change.replace('\'', '"')));
        return Kubectl.tryRun(command.toArray(String[]::new));
    }

    private static String node() {
        return Repository.module("compose/cli/src/test/resources")
                .resolve("field-policies-node.json")
                .toString();
    }

    private static String file(String service) {
        return Repository.module("k8s/base/services/" + service + "/rbac.yaml").toString();
    }
}
