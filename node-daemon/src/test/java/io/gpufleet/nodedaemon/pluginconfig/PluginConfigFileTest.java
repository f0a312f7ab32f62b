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
import io.gpufleet.nodedaemon.model.settings.SharingSettings.DeviceSelector;
import io.gpufleet.nodedaemon.model.settings.SharingSettings.SharedResource;
import io.gpufleet.nodedaemon.model.settings.SharingSettings.SharingMode;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PluginConfigFileTest {
    private final PluginSettingsBuilder draft = new PluginSettingsBuilder("/");

    private PluginSettings read(String text) {
        PluginConfigFile.read("config.yaml", text, draft);
        return draft.build();
    }

    @Test
    void everySettingOfNvidiasPluginIsRead() {
        PluginSettings settings = read("""
                version: v1
                flags:
                  migStrategy: "mixed"
                  failOnInitError: false
                  nvidiaDriverRoot: /run/nvidia/driver
                  gdrcopyEnabled: true
                  gdsEnabled: yes
                  mofedEnabled: false
                  plugin:
                    passDeviceSpecs: true
                    deviceListStrategy: [envvar, cdi-cri]
                    deviceIDStrategy: index
                    cdiAnnotationPrefix: cdi.example.org/
                    sharedDevicesAllocationPolicy: packed
                    nvidiaCTKPath: /usr/bin/nvidia-ctk
                  gfd: {oneshot: false}
                resources:
                  gpus: [{pattern: "*", name: gpu}]
                sharing:
                  timeSlicing:
                    renameByDefault: true
                    resources:
                      - {name: nvidia.com/gpu, replicas: 4}
                      - {name: mig-1g.5gb, rename: small, devices: [0:1, MIG-abc], replicas: 2}
                imex:
                  channelIDs: [0]
                  required: true
                """);

        assertThat(settings.mig()).isEqualTo(MigStrategy.MIXED);
        assertThat(settings.replicaPolicy()).isEqualTo(ReplicaAllocationPolicy.PACKED);
        assertThat(settings.allocate().strategies())
                .containsExactlyInAnyOrder(DeviceListStrategy.ENVVAR, DeviceListStrategy.CDI_CRI);
        assertThat(settings.allocate().deviceIdStrategy()).isEqualTo(DeviceIdStrategy.INDEX);
        assertThat(settings.allocate().passDeviceSpecs()).isTrue();
        assertThat(settings.allocate().kernelInterfaces())
                .containsExactlyInAnyOrder(KernelInterface.GDRCOPY, KernelInterface.GDS);
        assertThat(settings.allocate().imex()).isEqualTo(ImexMode.REQUIRED);
        assertThat(settings.allocate().cdiAnnotationPrefix()).isEqualTo("cdi.example.org/");
        assertThat(settings.allocate().driver().root()).isEqualTo("/run/nvidia/driver");
        assertThat(settings.sharing().mode()).isEqualTo(SharingMode.TIME_SLICING);
        assertThat(settings.sharing().renameByDefault()).isTrue();
        assertThat(settings.sharing().failGreaterThanOne()).isFalse();
        assertThat(settings.sharing().resources())
                .containsExactly(
                        new SharedResource("nvidia.com/gpu", "", new DeviceSelector.All(), 4),
                        new SharedResource(
                                "nvidia.com/mig-1g.5gb",
                                "nvidia.com/small",
                                new DeviceSelector.Listed(Set.of("0:1", "MIG-abc")),
                                2));
    }

    @Test
    void unsupportedKeyIsReportedWithItsPosition() {
        read("""
                version: v1
                flags:
                  failOnInitError: false
                  plugin:
                    nvidiaCTKPath: /usr/bin/nvidia-ctk
                    pasDeviceSpecs: true
                resources:
                  gpus: [{pattern: "*", name: gpu}]
                """);

        assertThat(draft.ignoredSettings)
                .extracting(IgnoredSetting::where)
                .containsExactlyInAnyOrder(
                        "config.yaml:3:20: flags.failOnInitError",
                        "config.yaml:5:20: flags.plugin.nvidiaCTKPath",
                        "config.yaml:6:21: flags.plugin.pasDeviceSpecs",
                        "config.yaml:8:3: resources");
        assertThat(draft.ignoredSettings)
                .filteredOn(note -> note.where().contains("pasDeviceSpecs"))
                .singleElement()
                .satisfies(note -> assertThat(note.why()).contains("passDeviceSpecs"));
    }

    @Test
    void mpsRejectsMoreThanOneReplicaUnlessAllowed() {
        PluginSettings settings = read("""
                version: v1
                flags: {mpsRoot: /srv/mps}
                sharing:
                  mps:
                    resources: [{name: nvidia.com/gpu, replicas: 10, devices: 2}]
                """);

        assertThat(settings.sharing().mode()).isEqualTo(SharingMode.MPS);
        assertThat(settings.sharing().failGreaterThanOne()).isTrue();
        assertThat(settings.sharing().mpsRoot()).isEqualTo("/srv/mps");
        assertThat(settings.sharing().resources())
                .containsExactly(new SharedResource("nvidia.com/gpu", "", new DeviceSelector.First(2), 10));
    }

    @Test
    void sharingWithoutResourcesSharesNothing() {
        assertThat(read("version: v1\nsharing: {timeSlicing: {renameByDefault: true, resources: []}, mps:}")
                        .sharing()
                        .mode())
                .isEqualTo(SharingMode.NONE);
        assertThat(draft.ignoredSettings).isEmpty();
    }

    @Test
    void gpufleetSectionIsRead() {
        PluginSettings settings = read("""
                version: v1
                gpufleet: {preStart: true, libraryPath: true, ignoredXids: [48, 63], enforcedXids: 31}
                """);

        assertThat(settings.allocate().preStart()).isTrue();
        assertThat(settings.allocate().driver().libraryPath()).isTrue();
        assertThat(settings.xids().withdraws(48, true)).isFalse();
        assertThat(settings.xids().withdraws(31, false)).isTrue();
        assertThat(settings.xids().withdraws(79, true)).isTrue();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "version: v2 | config.yaml:1:10: version 'v2' is not usable: it takes v1",
                "flags: {} | config.yaml: version is missing; write version: v1 at the top",
                "\"\" | config.yaml: version is missing; write version: v1 at the top",
                "just words | config.yaml:1:1: the file 'just words' is not usable: it takes a mapping, key: value",
                "{version: v1, flags: [ | config.yaml:1:23: expected the node content, but found '<stream end>';",
                "{version: v1, version: v1} | config.yaml:1:15: version 'version' is not usable: duplicate key",
                "{version: v1, flags: {migStrategy: some}} | config.yaml:1:36: flags.migStrategy 'some' is not usable:"
                        + " it takes none, single, mixed",
                "{version: v1, flags: {gdsEnabled: maybe}} | flags.gdsEnabled 'maybe' is not usable: it takes true or",
                "{version: v1, flags: {gdsEnabled: [true]}} | flags.gdsEnabled is not usable: it takes a single value",
                "{version: v1, flags: {mpsRoot: mps}} | flags.mpsRoot 'mps' is not usable: it takes an absolute path",
                "{version: v1, flags: {plugin: {deviceListStrategy: envar}}} | 'envar' is not usable: it takes envvar,",
                "{version: v1, flags: {plugin: {deviceListStrategy: []}}} | deviceListStrategy is empty",
                "{version: v1, sharing: {mps: {resources: 4}}} | sharing.mps.resources '4' is not usable: it takes a",
                "{version: v1, sharing: {mps: {resources: [{name: gpu}]}}} | sharing.mps.resources[0].replicas is missing",
                "{version: v1, sharing: {mps: {resources: [{name: gpu, replicas: 1}]}}} | '1' is not usable: it takes 2 to",
                "{version: v1, sharing: {mps: {resources: [{name: gp u, replicas: 2}]}}} | 'gp u' is not usable: it takes",
                "{version: v1, sharing: {mps: {resources: [{name: gpu, replicas: 2, devices: -1}]}}} | it takes all, a",
                "{version: v1, sharing: {mps: {resources: [{name: gpu, replicas: 2, devices: []}]}}} | it takes all, a",
                "{version: v1, sharing: {mps: {resources: [{name: gpu, replicas: 2}]}, timeSlicing: {resources: [{name:"
                        + " gpu, replicas: 2}]}}} | remove the resources of one of them",
                "{version: v1, flags: {migStrategy: mixed}, sharing: {mps: {resources: [{name: gpu, replicas: 2}]}}} |"
                        + " choose one of the two",
                "{version: v1, imex: {channelIDs: [1]}} | imex.channelIDs is not usable: it takes 0, or nothing",
                "{version: v1, gpufleet: {ignoredXids: [x]}} | gpufleet.ignoredXids is not usable: it takes numbers",
            })
    void invalidFileIsRejectedInOneLine(String text, String part) {
        assertThatThrownBy(() -> read(text))
                .hasMessageContaining(part)
                .extracting(Throwable::getMessage)
                .asString()
                .doesNotContain("\n");
    }

    @Test
    void fileWithARecursiveAliasIsRead() {
        // An alias to its own mapping is valid YAML, and must not recurse.
        assertThat(read("version: v1\nflags: &f\n  plugin: *f\n").mig()).isEqualTo(MigStrategy.NONE);
        assertThat(draft.ignoredSettings)
                .extracting(IgnoredSetting::why)
                .first()
                .asString()
                .contains("unknown key");
    }

    @Test
    void listOfXidsOverwritesAnEarlierSource() {
        draft.ignoredXids(List.of("all"));

        assertThat(read("version: v1\ngpufleet: {ignoredXids: [13]}").xids().withdraws(79, true))
                .isTrue();
    }
}
