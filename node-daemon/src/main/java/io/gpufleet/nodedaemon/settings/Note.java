package io.gpufleet.nodedaemon.settings;

/**
 * Something that was read and is not honoured.
 *
 * @param where file, position and name, or the environment variable
 * @param why what happens instead
 */
record Note(String where, String why) {}
