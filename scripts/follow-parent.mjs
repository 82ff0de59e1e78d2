/** Loaded before the program: ends it at once when the script that started it is gone. */
if (process.channel !== undefined && process.channel !== null) {
  process.once('disconnect', () => process.exit(137))
  process.channel.unref()
}
