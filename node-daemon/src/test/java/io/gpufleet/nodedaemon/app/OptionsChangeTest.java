package io.gpufleet.nodedaemon.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.device.TestGpus;
import io.gpufleet.nodedaemon.model.settings.PluginSettings;
import io.gpufleet.nodedaemon.model.settings.SettingsSelector;
import io.gpufleet.nodedaemon.model.settings.TestSettings;
import org.junit.jupiter.api.Test;

/** Options that a kubelet reads at a registration. */
class OptionsChangeTest {
    private static NodeLoopInput settings(PluginSettings settings) {
        return new NodeLoopInput.SettingsChanged(SettingsSelector.fixed(settings, "test"));
    }

    @Test
    void changeOfPreStartIsPublishedThoughNoDeviceChanged() {
        var node = new TestNode(TestGpus.scanOf(2));
        int before = node.shownLists();

        node.handle(settings(TestSettings.preStart()));
        assertThat(node.shownLists()).isEqualTo(before + 1);

        node.handle(settings(TestSettings.preStart()));
        assertThat(node.shownLists()).isEqualTo(before + 1);
    }
}
