.print "to standard output"
.include "included.inc"
.include "included.inc" ; comment
.include "nowhere.inc"
.include
.warning "careful"
.warning
.warning 5
.error "wrong"
.error
.error 5
.err
.abort
.abort with a message
.bundle_align_mode 4
.bundle_lock
.bundle_lock align_to_end
.bundle_lock wrong
.bundle_unlock
.bundle_align_mode 31
.code16
.stabs "x", 1
.macros_off
.macros_on
.altmacro
.noaltmacro
.nonsense
.print 5
? what
^
)
'c'
1.5
.end
this is not read
