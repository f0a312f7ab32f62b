package io.gpufleet.nodedaemon.podresources;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class KubeletCheckpointTest {
    @TempDir
    Path directory;

    private KubeletCheckpoint read(String text) throws IOException {
        return KubeletCheckpoint.read(
                Files.writeString(directory.resolve("kubelet_internal_checkpoint"), text), "nvidia.com/gpu"::equals);
    }

    @Test
    void uidOfTheResourcesDevicesIsFoundByNumaNode() throws IOException {
        var checkpoint = read("""
                {"Data":{"PodDeviceEntries":[
                  {"PodUID":"uid-1","ContainerName":"main","ResourceName":"nvidia.com/gpu","DeviceIDs":{"-1":["a"],"0":["b"]},"AllocResp":""},
                  {"PodUID":"uid-2","ContainerName":"main","ResourceName":"other.com/nic","DeviceIDs":{"0":["c"]},"AllocResp":""}],
                  "RegisteredDevices":{"nvidia.com/gpu":["a","b"]}},"Checksum":1}""");

        assertThat(checkpoint.readable()).isTrue();
        assertThat(checkpoint.entries())
                .containsExactly(
                        new KubeletCheckpoint.PodDevicesEntry("uid-1", "main", "nvidia.com/gpu", Set.of("a", "b")));
    }

    @Test
    void oldVersionWithOneListIsRead() throws IOException {
        var checkpoint =
                read("{\"Data\":{\"PodDeviceEntries\":[{\"PodUID\":\"uid-1\",\"ResourceName\":\"nvidia.com/gpu\","
                        + "\"DeviceIDs\":[\"a\"]}]}}");

        assertThat(checkpoint.deviceIds()).containsExactly("a");
    }

    @Test
    void checkpointOfANewKubeletIsReadableAndEmpty() throws IOException {
        var checkpoint = read("{\"Data\":{\"PodDeviceEntries\":null,\"RegisteredDevices\":{}},\"Checksum\":1}");

        assertThat(checkpoint.readable()).isTrue();
        assertThat(checkpoint.entries()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "{", "[]", "null", "{\"Data\":7}", "{\"Data\":{\"PodDeviceEntries\":{}}}"})
    void invalidCheckpointIsNotReadable(String text) throws IOException {
        assertThat(read(text).readable()).isFalse();
    }
}
