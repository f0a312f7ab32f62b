package io.gpufleet.nodedaemon.pluginconfig;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpufleet.nodedaemon.model.settings.AllocateSettings.DeviceIdStrategy;
import io.gpufleet.nodedaemon.model.settings.AllocateSettings.ImexMode;
import io.gpufleet.nodedaemon.model.settings.AllocateSettings.KernelInterface;
import io.gpufleet.nodedaemon.model.settings.DeviceListStrategy;
import io.gpufleet.nodedaemon.model.settings.MigStrategy;
import io.gpufleet.nodedaemon.model.settings.PluginSettings;
import io.gpufleet.nodedaemon.model.settings.ReplicaAllocationPolicy;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class NvidiaPluginEnvironmentTest {
    private static PluginSettings read(Map<String, String> environment) {
        var draft = new PluginSettingsBuilder("/");
        new NvidiaPluginEnvironment(environment).apply(draft);
        return draft.build();
    }

    @Test
    void everyVariableIsRead() {
        var environment = new HashMap<String, String>();
        environment.put("MIG_STRATEGY", "single");
        environment.put("DEVICE_LIST_STRATEGY", "volume-mounts, cdi-annotations");
        environment.put("DEVICE_ID_STRATEGY", "index");
        environment.put("PASS_DEVICE_SPECS", "TRUE");
        environment.put("NVIDIA_DRIVER_ROOT", "/run/nvidia/driver");
        environment.put("GDRCOPY_ENABLED", "1");
        environment.put("GDS_ENABLED", "t");
        environment.put("MOFED_ENABLED", "true");
        environment.put("CDI_ANNOTATION_PREFIX", "cdi.example.org/");
        environment.put("SHARED_DEVICES_ALLOCATION_POLICY", "packed");
        environment.put("IMEX_CHANNEL_IDS", "0");
        environment.put("MPS_ROOT", "/srv/mps");
        environment.put("DP_DISABLE_HEALTHCHECKS", "xids");
        environment.put("DP_ENABLE_HEALTHCHECKS", "31,43");

        PluginSettings settings = read(environment);

        assertThat(settings.mig()).isEqualTo(MigStrategy.SINGLE);
        assertThat(settings.replicaPolicy()).isEqualTo(ReplicaAllocationPolicy.PACKED);
        assertThat(settings.sharing().mpsRoot()).isEqualTo("/srv/mps");
        assertThat(settings.allocate().strategies())
                .containsExactlyInAnyOrder(DeviceListStrategy.VOLUME_MOUNTS, DeviceListStrategy.CDI_ANNOTATIONS);
        assertThat(settings.allocate().deviceIdStrategy()).isEqualTo(DeviceIdStrategy.INDEX);
        assertThat(settings.allocate().passDeviceSpecs()).isTrue();
        assertThat(settings.allocate().kernelInterfaces()).containsExactlyInAnyOrder(KernelInterface.values());
        assertThat(settings.allocate().imex()).isEqualTo(ImexMode.OPTIONAL);
        assertThat(settings.allocate().cdiAnnotationPrefix()).isEqualTo("cdi.example.org/");
        assertThat(settings.allocate().driver().root()).isEqualTo("/run/nvidia/driver");
        assertThat(settings.xids().withdraws(79, true)).isFalse();
        assertThat(settings.xids().withdraws(43, false)).isTrue();
    }

    @Test
    void emptyVariableIsIgnored() {
        assertThat(read(Map.of("MIG_STRATEGY", "", "CDI_ANNOTATION_PREFIX", " ")))
                .isEqualTo(PluginSettings.DEFAULT);
    }

    @Test
    void unsupportedVariableIsReported() {
        var environment = new NvidiaPluginEnvironment(
                Map.of("FAIL_ON_INIT_ERROR", "true", "NVIDIA_CTK_PATH", "/usr/bin/nvidia-ctk", "PATH", "/usr/bin"));

        assertThat(environment.ignoredSettings())
                .extracting(IgnoredSetting::where)
                .containsExactly("FAIL_ON_INIT_ERROR=true", "NVIDIA_CTK_PATH=/usr/bin/nvidia-ctk");
    }

    @Test
    void invalidValueIsRejectedWithTheValidOnes() {
        assertThatThrownBy(() -> read(Map.of("MIG_STRATEGY", "both")))
                .hasMessage("MIG_STRATEGY='both' is not usable: it takes none, single, mixed");
    }
}
