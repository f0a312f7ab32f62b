/** Looks at the node with the eyes of an operator: kernel files, directories, sockets. It looks once and changes nothing. */
@NullMarked
package io.gpufleet.nodedaemon.doctor;

import org.jspecify.annotations.NullMarked;
