import assert from 'node:assert/strict'
import test from 'node:test'
import { within } from '../../../test/support/waiting.ts'
import { startPlatform } from '../../../test/support/world.ts'
import { notificationsOf } from './notifications.ts'

test('a name is woken here at once, and in other processes by NOTIFY only there', async (t) => {
  const { pool } = await startPlatform(t)
  const [mine, theirs] = [notificationsOf(pool, 'one'), notificationsOf(pool, 'two')]
  let here = 0
  const heardThere = Promise.withResolvers<void>()
  mine.on('dispatch', () => (here += 1))
  theirs.on('dispatch', () => heardThere.resolve())
  theirs.on('deliver', () => assert.fail('nobody woke it'))
  await Promise.all([mine.open(), theirs.open()])

  mine.notify('dispatch')
  const atOnce = here
  await within('the other process to hear', heardThere.promise)
  await Promise.all([mine.close(), theirs.close()])

  assert.deepEqual([atOnce, here], [1, 1])
})

test('a command notifies without listening; notifying no name wakes all', async (t) => {
  const { pool } = await startPlatform(t)
  const [command, service] = [notificationsOf(pool, 'command'), notificationsOf(pool, 'service')]
  const woken = new Set<string>()
  const both = Promise.withResolvers<void>()
  for (const name of ['dispatch', 'forget-keys']) {
    service.on(name, () => {
      woken.add(name)
      if (woken.size === 2) both.resolve()
    })
  }
  await service.open()

  command.notify()
  await command.flush()
  await within('both to be woken', both.promise)
  await service.close()

  assert.deepEqual([...woken].toSorted(), ['dispatch', 'forget-keys'])
})

test('a process that is alone sends nothing until another one exists', async (t) => {
  const { pool } = await startPlatform(t)
  let alone = true
  const [mine, theirs] = [notificationsOf(pool, 'one', () => alone), notificationsOf(pool, 'two')]
  const woken: string[] = []
  const told = Promise.withResolvers<void>()
  mine.on('dispatch', () => woken.push('dispatch here'))
  theirs.on('dispatch', () => woken.push('dispatch there'))
  theirs.on('deliver', () => {
    woken.push('deliver there')
    told.resolve()
  })
  await Promise.all([mine.open(), theirs.open()])

  mine.notify('dispatch')
  alone = false
  mine.notify('deliver')
  await within('the other process to be told', told.promise)
  await Promise.all([mine.close(), theirs.close()])

  assert.deepEqual(woken, ['dispatch here', 'deliver there'])
})
