/** A button for what not everybody may do, or not now: it stays, cannot be pressed, and says why. */
import { Button, type ButtonProps, VisuallyHidden } from '@mantine/core'
import { useId } from 'react'

export interface ActionButtonProps extends ButtonProps {
  readonly label: string
  /** The whole name, where a screen has several buttons with one label; it begins with the label. */
  readonly named?: string
  readonly onPress: () => void
  /** Why it cannot be pressed; absent: it can. */
  readonly because?: string | undefined
}

export function ActionButton({ label, named, onPress, because, ...props }: ActionButtonProps) {
  const reason = useId()
  if (because === undefined)
    return (
      <Button onClick={onPress} aria-label={named} {...props}>
        {label}
      </Button>
    )
  return (
    <>
      <Button
        {...props}
        aria-label={named}
        data-disabled
        aria-disabled="true"
        aria-describedby={reason}
        title={because}
        onClick={(event) => event.preventDefault()}
      >
        {label}
      </Button>
      <VisuallyHidden id={reason}>{because}</VisuallyHidden>
    </>
  )
}
