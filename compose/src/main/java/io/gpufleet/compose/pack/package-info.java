/** What is installed on a node: a runtime, the jars and the class data of the daemon, in one folder and one archive. */
@NullMarked
package io.gpufleet.compose.pack;

import org.jspecify.annotations.NullMarked;
