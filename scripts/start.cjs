/** The way from the package's old-fashioned entrance to the module that starts the program. */
'use strict'

void import('./start.mjs')
