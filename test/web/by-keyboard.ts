import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'

/** More presses than any page has things to stop at. */
const mostPresses = 80

/** Goes on with Tab until the focus is there, as someone without a mouse does, and sees where it is. */
export async function tabTo(page: Page, place: Locator, key = 'Tab'): Promise<void> {
  await place.waitFor()
  for (let press = 0; press < mostPresses; press += 1) {
    if (await hasFocus(place, ':focus-within')) {
      // The editor draws its ring a moment after it has taken the focus.
      const message = `the focus on ${String(place)} is to be seen`
      await expect.poll(() => page.evaluate(ringIsDrawn), { message }).toBe(true)
      return
    }
    await page.keyboard.press(key)
  }
  throw new Error(`the focus never reached ${String(place)}`)
}

/** Goes there and presses a key. */
export async function press(page: Page, place: Locator, key = 'Enter'): Promise<void> {
  await tabTo(page, place)
  await page.keyboard.press(key)
}

/** The tests are typed without a browser, so what an element can do is asked of it. */
export function hasFocus(place: Locator, selector = ':focus'): Promise<boolean> {
  return place.evaluate(
    (element, asked) =>
      'matches' in element && typeof element.matches === 'function' && element.matches(asked) === true,
    selector,
  )
}

/** Boxes and switches are drawn by what stands beside their input, the editor by what is around it. */
const ringIsDrawn = `(() => {
  const focused = document.querySelector(':focus-visible')
  if (focused === null) return false
  const near = [focused, focused.nextElementSibling, focused.parentElement, focused.closest('.cm-editor')]
  return near.some((element) => {
    if (element === null) return false
    const { outlineStyle, outlineWidth } = getComputedStyle(element)
    return outlineStyle !== 'none' && parseFloat(outlineWidth) >= 1
  })
})()`
