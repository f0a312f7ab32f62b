package io.gpufleet.nodedaemon.pluginconfig;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.gpufleet.testbed.testkit.ParserFuzzer;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A configuration file is read, or refused with its place. */
class ChangedConfigFileTest {
    private static final String CONFIG = """
            version: v1
            flags:
              migStrategy: "mixed"
              nvidiaDriverRoot: /run/nvidia/driver
              gdsEnabled: yes
              plugin:
                passDeviceSpecs: true
                deviceListStrategy: [envvar, cdi-cri]
                deviceIDStrategy: index
            resources:
              gpus: [{pattern: "*", name: gpu}]
            sharing:
              timeSlicing:
                renameByDefault: true
                resources:
                  - {name: nvidia.com/gpu, replicas: 4}
                  - {name: mig-1g.5gb, rename: small, devices: [0:1, MIG-abc], replicas: 2}
            imex: {channelIDs: [0], required: true}
            gpufleet: {ignoredXids: [13, 31], preStart: false}
            """;
    private static final String MPS = """
            version: v1
            sharing: {mps: {resources: [{name: nvidia.com/gpu, devices: 2, replicas: 10}]}}
            """;

    @Test
    void changedFileIsReadOrRefused() {
        ParserFuzzer.check(20_000, List.of(CONFIG, MPS), List.of(InvalidSettingsException.class), text -> {
            var settings = new PluginSettingsBuilder("/");
            PluginConfigFile.read("config.yaml", new String(text, UTF_8), settings);
            settings.build();
        });
    }
}
