/** What container runtimes read of our devices: CDI spec files. No answer to the kubelet is made here. */
@NullMarked
package io.gpufleet.nodedaemon.cdi;

import org.jspecify.annotations.NullMarked;
