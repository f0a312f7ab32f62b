/** What happens in a directory, where the kernel can tell and where it can not. */
@NullMarked
package io.gpufleet.kit.files;

import org.jspecify.annotations.NullMarked;
