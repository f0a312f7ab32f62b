/** NVIDIA's published XID catalogue as data for several programs; conclusions from it are made by each program. */
@NullMarked
package io.gpufleet.xid;

import org.jspecify.annotations.NullMarked;
