package io.gpufleet.nodedaemon.model.settings;

/** Settings that differ from the defaults. */
public final class TestSettings {
    private TestSettings() {}

    /** The defaults, with PreStartContainer. */
    public static PluginSettings preStart() {
        AllocateSettings standard = AllocateSettings.DEFAULT;
        return PluginSettings.DEFAULT.with(new AllocateSettings(
                standard.strategies(),
                standard.deviceIdStrategy(),
                standard.passDeviceSpecs(),
                standard.kernelInterfaces(),
                standard.imex(),
                standard.cdiAnnotationPrefix(),
                standard.driver(),
                true));
    }
}
