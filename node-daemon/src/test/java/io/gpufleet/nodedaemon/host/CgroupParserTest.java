package io.gpufleet.nodedaemon.host;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.device.ProcessOwner;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CgroupParserTest {
    private static final String UID = "4b32c1f7-9a51-4dd4-8b6e-0d7e5c3b2a19";
    private static final String ID = "5f0b2c9d8e7a6b5c4d3e2f1a0b9c8d7e6f5a4b3c2d1e0f9a8b7c6d5e4f3a2b1c";

    /** U is the UID as written by the systemd driver, u by cgroupfs, I the container's id. */
    private static ProcessOwner of(String text) {
        return CgroupParser.owner(
                text.replace("<U>", UID.replace('-', '_')).replace("<u>", UID).replace("<I>", ID));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                // containerd, cgroup v2, systemd
                "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod<U>.slice/cri-containerd-<I>.scope\n",
                // a guaranteed pod
                "0::/kubepods.slice/kubepods-pod<U>.slice/cri-containerd-<I>.scope\n",
                // CRI-O, with a cgroup of its own below
                "0::/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod<U>.slice/crio-<I>.scope/container\n",
                // docker
                "0::/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod<U>.slice/docker-<I>.scope\n",
                // cgroupfs, best effort and guaranteed
                "0::/kubepods/besteffort/pod<u>/<I>\n",
                "0::/kubepods/pod<u>/<I>\n",
                // the container's cgroup was removed, its process is still there
                "0::/kubepods/burstable/pod<u>/<I> (deleted)\n",
                // cgroup v1: a line a controller
                """
                12:memory:/kubepods/burstable/pod<u>/<I>
                11:devices:/kubepods/burstable/pod<u>/<I>
                1:name=systemd:/kubepods/burstable/pod<u>/<I>
                0::/system.slice/containerd.service
                """,
                // v1 with systemd, the first lines name other cgroups
                """
                12:rdma:/
                11:cpu,cpuacct:/kubepods.slice/kubepods-pod<U>.slice/docker-<I>.scope
                0::/
                """,
                // containerd whose driver is not the kubelet's
                "0::/system.slice/containerd.service/kubepods-burstable-pod<U>.slice:cri-containerd:<I>\n",
                // a kubelet in a container (kind), with a prefix of its own
                "0::/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod<U>.slice/cri-containerd-<I>.scope\n",
                "0::/docker/<I>/kubelet/kubepods/besteffort/pod<u>/<I>\n",
                // path relative to a container of the same class
                "0::/../../kubepods-burstable-pod<U>.slice/cri-containerd-<I>.scope\n",
                // a pod in a pod: only the outer one is this kubelet's
                "0::/kubepods/burstable/pod<u>/<I>/kubepods/besteffort/pod00000000-0000-0000-0000-000000000001/<I>\n"
            })
    void processOfAPodNamesItsUid(String text) {
        assertThat(of(text)).isEqualTo(new ProcessOwner.Pod(UID));
    }

    @Test
    void staticPodHasAHashForAUid() {
        String hash = "0123456789abcdef0123456789abcdef";

        assertThat(of("0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" + hash
                        + ".slice/cri-containerd-<I>.scope\n"))
                .isEqualTo(new ProcessOwner.Pod(hash));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "0::/user.slice/user-1000.slice/session-3.scope\n",
                "0::/system.slice/nvidia-persistenced.service\n",
                "0::/system.slice/docker-<I>.scope\n",
                "0::/docker/<I>\n",
                "0::/\n",
                "12:memory:/\n1:name=systemd:/init.scope\n0::/init.scope\n",
                // podman's own pods and names that only begin alike
                "0::/machine.slice/libpod-<I>.scope\n",
                "0::/user.slice/podman-<u>.scope\n",
                "0::/system.slice/pod<u>x.service\n",
                ""
            })
    void processOutsideOfPodsIsTheHosts(String text) {
        assertThat(of(text)).isEqualTo(new ProcessOwner.Host());
    }

    @Test
    void pathOutsideOfTheOwnNamespaceIsUnknown() {
        assertThat(of("0::/../cri-containerd-<I>.scope\n")).isInstanceOf(ProcessOwner.Unknown.class);
    }
}
