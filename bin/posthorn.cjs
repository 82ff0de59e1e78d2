#!/usr/bin/env node
/** `posthorn <command>` as its package installs it. Written as of old: a Node that is too old must still be able to read that it is. */
'use strict'

function isTooOld(major, minor) {
  return major < 22 || (major === 22 && minor < 19)
}

if (isTooOld.apply(null, process.versions.node.split('.').map(Number))) {
  process.stderr.write(
    'posthorn: Node 22.19 or newer is needed, and this is ' +
      process.versions.node +
      '. Install a newer one, then try again.\n',
  )
  process.exitCode = 1
} else require('../dist/scripts/start.cjs')
