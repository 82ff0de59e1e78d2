/** Deletes a stored automation, when it has been asked about. */
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { answered, v1 } from '../../api/client.ts'
import { useAction } from '../../api/use-action.ts'
import { useStale } from '../../api/use-stale.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { pathTo, type Place } from '../../paths.ts'
import { text } from '../../text/en.ts'

const words = text.automations.form

export interface DeleteAutomationProps {
  readonly place: Place
  readonly id: string
  readonly because: string | undefined
  readonly onDeleted: () => void
}

export function DeleteAutomation({ place, id, because, onDeleted }: DeleteAutomationProps) {
  const navigate = useNavigate()
  const stale = useStale(place)
  const [isAsking, setAsking] = useState(false)
  const action = useAction(
    (gone: string) => answered(v1(place).DELETE('/v1/automations/{id}', { params: { path: { id: gone } } })),
    async () => {
      onDeleted()
      await navigate({ to: pathTo(place, 'automations') as never })
      await stale('automations.list', 'integration_sources.')
    },
  )
  return (
    <>
      <ActionButton label={words.delete} variant="default" because={because} onPress={() => setAsking(true)} />
      <ConfirmDialog
        title={words.delete}
        why={words.deleteWhy}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        action={action}
        onConfirm={() => action.run(id)}
      />
    </>
  )
}
