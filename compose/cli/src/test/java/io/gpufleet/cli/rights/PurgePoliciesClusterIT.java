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
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The API server's admission policies for the Job of the purge: it takes away what gpufleet has set, and nothing else. */
class PurgePoliciesClusterIT {
    private static final String NAME = "purge-policies";
    private static final String PURGE = "gpufleet-purge";
    private static final String STATEFUL_SETS = "statefulsets";
    private static final String RIGHTS = file("k8s/purge/rbac.yaml");
    private static final String POLICIES = file("k8s/purge/field-policies.yaml");
    private static final String SETS = file("compose/cli/src/test/resources/purge-policies-statefulsets.yaml");
    private static final String CORDON = "{'metadata':{'annotations':{'gpufleet.io/applied':'{\\'cordon\\':true}'}}}";

    @BeforeAll
    static void apply() {
        Kubectl.run("create", "namespace", Installation.SERVICES);
        Kubectl.run("create", "namespace", NAME);
        Kubectl.run("-n", PURGE, "apply", "-f", RIGHTS);
        Kubectl.run("apply", "-f", SETS);
        Kubectl.run("create", "-f", file("compose/cli/src/test/resources/purge-policies-node.json"));
        // kubectl reads what it patches, the purge does not.
        Kubectl.run(
                "create",
                "clusterrole",
                NAME,
                "--verb=get",
                "--resource=nodes,nodes/status,namespaces,statefulsets.apps");
        Kubectl.run(
                "create", "clusterrolebinding", NAME, "--clusterrole=" + NAME, "--serviceaccount=" + PURGE + ":purge");
        Kubectl.run("apply", "-f", POLICIES);
        // A policy is compiled and in force some seconds after it was written.
        for (String resource : List.of("nodes", "namespaces", STATEFUL_SETS)) {
            await().atMost(Duration.ofSeconds(60))
                    .until(() -> purge(resource, "{'metadata':{'annotations':{'probe':'" + System.nanoTime() + "'}}}")
                                    .status()
                            != 0);
        }
    }

    @AfterAll
    static void remove() {
        Kubectl.run("delete", "-f", POLICIES);
        Kubectl.run("delete", "node", NAME);
        Kubectl.run("delete", "clusterrole,clusterrolebinding", NAME);
        Kubectl.run("delete", "-f", SETS);
        Kubectl.run("-n", PURGE, "delete", "-f", RIGHTS);
        Kubectl.run("delete", "namespace", Installation.SERVICES, NAME, "--wait=true", "--timeout=60s");
    }

    /** What gpufleet sets, beside fields of others. */
    @BeforeEach
    void set() {
        patch("nodes", "--type=merge", """
            {'metadata':{'labels':{'gpufleet.io/health':'unhealthy','nvidia.com/gpu.count':'8','rack':'r1'},
             'annotations':{'gpufleet.io/applied':'{\\'cordon\\':true}','example.com/owner':'team-a',
              'gpufleet.io/applied-node-taints':'nvidia.com/gpu=present:NoSchedule,example.com/gpu:NoExecute'}},
             'spec':{'unschedulable':true,'taints':[{'key':'gpufleet.io/unhealthy','value':'Xid','effect':'NoSchedule'},
              {'key':'example.com/rack','value':'burning','effect':'NoSchedule'},
              {'key':'nvidia.com/gpu','value':'present','effect':'NoSchedule'},
              {'key':'nvidia.com/gpu','value':'theirs','effect':'NoExecute'},
              {'key':'example.com/gpu','effect':'NoExecute'}]}}""");
        patch("nodes/status", "--type=strategic", """
            {'status':{'conditions':[{'type':'GpuUnhealthy','status':'True','reason':'Xid'}]}}""");
        patch("namespaces", "--type=merge", "{'metadata':{'labels':{'gpufleet.io/quota':'enforce'}}}");
        patch(STATEFUL_SETS, "--type=merge", "{'spec':{'replicas':1}}");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
        nodes        | {'metadata':{'labels':{'gpufleet.io/health':null}}}
        nodes        | {'metadata':{'labels':{'nvidia.com/gpu.count':null}}}
        nodes        | {'metadata':{'annotations':{'gpufleet.io/applied':null,'gpufleet.io/applied-node-taints':null}}}
        nodes        | [{'op':'remove','path':'/spec/taints/4'},{'op':'remove','path':'/spec/taints/2'},{'op':'remove','path':'/spec/taints/0'}]
        nodes        | {'spec':{'unschedulable':null}}
        nodes/status | {'status':{'conditions':[{'type':'GpuUnhealthy','$patch':'delete'}]}}
        namespaces   | {'metadata':{'labels':{'gpufleet.io/quota':null}}}
        statefulsets | {'spec':{'replicas':0}}
        """)
    void purgeTakesAwayWhatGpufleetHasSet(String resource, String change) {
        CommandOutput output = purge(resource, change);

        assertThat(output.status()).as(output.text()).isZero();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
        nodes        | {'metadata':{'labels':{'gpufleet.io/health':'healthy'}}}     | labels of gpufleet only
        nodes        | {'metadata':{'labels':{'rack':null}}}                        | labels of gpufleet only
        nodes        | {'metadata':{'annotations':{'gpufleet.io/applied':'{}'}}}    | annotations of gpufleet only
        nodes        | {'metadata':{'annotations':{'example.com/owner':null}}}      | annotations of gpufleet only
        nodes        | {'spec':{'taints':[]}}                                       | taints of gpufleet only
        nodes        | [{'op':'remove','path':'/spec/taints/3'}]                    | taints of gpufleet only
        nodes        | [{'op':'add','path':'/spec/taints/-','value':{'key':'gpufleet.io/more','effect':'NoExecute'}}] | taints of gpufleet only
        nodes        | [{'op':'replace','path':'/spec/taints/0/effect','value':'NoExecute'}] | taints of gpufleet only
        nodes        | {'spec':{'providerID':'cloud://another-machine'}}            | the spec of a Node
        nodes        | {'metadata':{'finalizers':['example.com/kept']}}             | metadata of a Node
        nodes        | {'metadata':{'ownerReferences':[{'apiVersion':'v1','kind':'Node','name':'absent','uid':'0'}]}} | metadata of a Node
        nodes/status | {'status':{'conditions':[{'type':'GpuUnhealthy','status':'False'}]}} | condition GpuUnhealthy only
        nodes/status | {'status':{'conditions':[{'type':'Ready','status':'True'}]}} | condition GpuUnhealthy only
        nodes/status | {'status':{'allocatable':{'nvidia.com/gpu':'1000'}}}         | can allocate
        nodes/status | {'status':{'addresses':[{'type':'InternalIP','address':'192.0.2.66'}]}} | its addresses
        namespaces   | {'metadata':{'labels':{'gpufleet.io/quota':'warn'}}}         | label gpufleet.io/quota
        namespaces   | {'metadata':{'labels':{'pod-security.kubernetes.io/enforce':'privileged'}}} | label gpufleet.io/quota
        namespaces   | {'metadata':{'annotations':{'example.com/owner':'nobody'}}}  | metadata of a namespace
        namespaces   | {'metadata':{'finalizers':['example.com/kept']}}             | metadata of a namespace
        statefulsets | {'spec':{'replicas':7}}                                      | replicas of a StatefulSet to 0
        statefulsets | {'spec':{'replicas':0,'template':{'spec':{'containers':[{'name':'main','image':'evil'}]}}}} | replicas of a StatefulSet to 0
        statefulsets | {'metadata':{'finalizers':['example.com/kept']},'spec':{'replicas':0}} | replicas of a StatefulSet to 0
        statefulsets other | {'spec':{'replicas':0}}                                | services of gpufleet only
        statefulsets elsewhere | {'spec':{'replicas':0}}                            | services of gpufleet only
        """)
    void purgeChangesNoOtherField(String resource, String change, String reason) {
        CommandOutput output = purge(resource, change);

        assertThat(output.status()).as(output.text()).isNotZero();
        assertThat(output.text()).contains(reason);
    }

    @Test
    void purgeLiftsNoCordonOfAnotherAndCordonsNothing() {
        patch("nodes", "--type=merge", "{'metadata':{'annotations':{'gpufleet.io/applied':'{}'}}}");
        assertThat(purge("nodes", "{'spec':{'unschedulable':null}}").text()).contains("cordons of gpufleet only");

        patch("nodes", "--type=merge", "{'spec':{'unschedulable':null}}");
        patch("nodes", "--type=merge", CORDON);
        assertThat(purge("nodes", "{'spec':{'unschedulable':true}}").text()).contains("cordons of gpufleet only");
    }

    private static void patch(String resource, String type, String change) {
        Kubectl.run(arguments(resource, List.of(type), change));
    }

    private static CommandOutput purge(String resource, String change) {
        // A list is a JSON patch.
        String type = change.startsWith("[") ? "json" : "strategic";
        return Kubectl.tryRun(arguments(
                resource, List.of("--type=" + type, "--as=system:serviceaccount:" + PURGE + ":purge"), change));
    }

    /** A StatefulSet is one of the services, unless another is named. */
    private static String[] arguments(String resource, List<String> options, String change) {
        String[] words = resource.split(" ");
        String[] path = words[0].split("/");
        var command = new ArrayList<>(List.of("patch", path[0]));
        if (path[0].equals(STATEFUL_SETS)) {
            String set = words.length > 1 ? words[1] : "health-service";
            command.addAll(List.of(set, "-n", set.equals("elsewhere") ? NAME : Installation.SERVICES));
        } else {
            command.add(NAME);
        }
        if (path.length > 1) {
            command.add("--subresource=" + path[1]);
        }
        command.addAll(options);
        command.add("-p=" + change.replace('\'', '"'));
        return command.toArray(String[]::new);
    }

    private static String file(String path) {
        return Repository.module(path).toString();
    }
}
