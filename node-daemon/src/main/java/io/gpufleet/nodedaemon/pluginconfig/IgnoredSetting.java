package io.gpufleet.nodedaemon.pluginconfig;

/**
 * A setting that was read and is ignored.
 *
 * @param where file, position and key, or the environment variable
 * @param why behaviour instead
 */
record IgnoredSetting(String where, String why) {}
