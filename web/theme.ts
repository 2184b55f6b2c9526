import {
  Button,
  ComboboxChevron,
  createTheme,
  Input,
  Modal,
  Notification,
  PasswordInput,
  Select,
  TextInput,
  Tooltip,
  type CSSVariablesResolver,
  type MantineColorsTuple,
} from '@mantine/core'

const tide: MantineColorsTuple = [
  '#ecf7f9',
  '#d6edf2',
  '#aedbe5',
  '#80c7d6',
  '#52b2c6',
  '#2f9bb2',
  '#18839a',
  '#0f6d83',
  '#0d596c',
  '#0a4555',
]
const gray: MantineColorsTuple = [
  '#f7f9fa',
  '#f0f3f5',
  '#e4e9ec',
  '#d5dce1',
  '#bac4cb',
  '#93a0a9',
  '#6b7983',
  '#4c5963',
  '#333e46',
  '#1a2329',
]
const dark: MantineColorsTuple = [
  '#d7dde1',
  '#b6bfc6',
  '#929da5',
  '#6f7a83',
  '#424c54',
  '#313a41',
  '#242c32',
  '#151b1f',
  '#10151a',
  '#0b0f12',
]

export const theme = createTheme({
  primaryColor: 'tide',
  colors: { tide, gray, dark },
  primaryShade: 7,
  black: gray[9],
  defaultRadius: 'md',
  respectReducedMotion: true,
  fontFamily: "'Inter Variable', system-ui, -apple-system, 'Segoe UI', sans-serif",
  fontFamilyMonospace:
    "'JetBrains Mono Variable', ui-monospace, 'SF Mono', Menlo, Consolas, 'Liberation Mono', monospace",
  // 14 px is the size of everything that is read; the small one is for what stands beside it.
  fontSizes: { xs: '0.75rem', sm: '0.875rem', md: '0.875rem', lg: '1rem', xl: '1.125rem' },
  headings: {
    fontWeight: '600',
    sizes: {
      h1: { fontSize: '1.375rem', lineHeight: '1.3' },
      h2: { fontSize: '1rem', lineHeight: '1.4' },
      h3: { fontSize: '0.875rem', lineHeight: '1.45' },
    },
  },
  components: {
    Button: Button.extend({ defaultProps: { size: 'sm' }, styles: { label: { fontWeight: 500 } } }),
    Notification: Notification.extend({ defaultProps: { closeButtonProps: { 'aria-label': 'Close' } } }),
    Modal: Modal.extend({
      defaultProps: {
        centered: true,
        radius: 'lg',
        padding: 'lg',
        transitionProps: { duration: 120 },
        overlayProps: { backgroundOpacity: 0.4 },
        closeButtonProps: { 'aria-label': 'Close' },
        // Its element is a <header>, which would pass for a second banner of the page.
        attributes: { header: { role: 'presentation' } },
      },
      styles: { title: { fontWeight: 600, fontSize: '1rem', lineHeight: 1.4 } },
    }),
    Tooltip: Tooltip.extend({
      defaultProps: { withArrow: true, openDelay: 250, events: { hover: true, focus: true, touch: true } },
    }),
    // Names and addresses mostly; prose says so.
    TextInput: TextInput.extend({ defaultProps: { autoComplete: 'off', spellCheck: false } }),
    InputWrapper: Input.Wrapper.extend({ styles: { label: { marginBottom: 4 }, description: { marginBottom: 4 } } }),
    // A picture without a name says nothing, and the field beside it says that it opens.
    ComboboxChevron: ComboboxChevron.extend({ defaultProps: { 'aria-hidden': true } }),
    PasswordInput: PasswordInput.extend({
      defaultProps: { visibilityToggleButtonProps: { 'aria-label': 'Show what is typed' } },
    }),
    Select: Select.extend({ defaultProps: { allowDeselect: false, checkIconPosition: 'right' } }),
  },
})

/** The library's own greys and reds are too faint for text at this size; these keep 4.5 to 1 on every surface. */
export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': '#586670',
    '--mantine-color-placeholder': '#66747e',
    '--mantine-color-error': '#b3261e',
    '--mantine-color-anchor': tide[8],
    '--mantine-color-default-border': gray[3],
    '--sluice-page': gray[0],
    '--sluice-surface': '#ffffff',
    '--sluice-line': gray[2],
    '--sluice-hover': gray[1],
    '--sluice-accent-text': tide[8],
    '--sluice-notice': tide[0],
    '--sluice-notice-line': tide[2],
    '--sluice-good': '#edf7ee',
    '--sluice-good-line': '#bcdcc0',
    '--sluice-good-mark': '#2b7a3c',
    '--sluice-warn-mark': '#8a6100',
    '--sluice-warn': '#fff6e0',
    '--sluice-warn-line': '#eed59a',
    '--sluice-danger': '#b3261e',
    '--sluice-danger-soft': '#fdeeec',
    '--sluice-danger-line': '#f3c5c0',
  },
  dark: {
    '--mantine-color-dimmed': '#9aa6ae',
    '--mantine-color-placeholder': '#8c98a1',
    '--mantine-color-error': '#ff9a90',
    '--mantine-color-anchor': tide[3],
    '--mantine-color-default-border': dark[4],
    '--sluice-page': '#10151a',
    '--sluice-surface': '#171d22',
    '--sluice-line': '#283138',
    '--sluice-hover': '#1f272d',
    '--sluice-accent-text': tide[3],
    '--sluice-notice': '#10282f',
    '--sluice-notice-line': '#1d4451',
    '--sluice-good': '#13251a',
    '--sluice-good-line': '#29503a',
    '--sluice-good-mark': '#7fcf93',
    '--sluice-warn-mark': '#e9bd5b',
    '--sluice-warn': '#2c2413',
    '--sluice-warn-line': '#574722',
    '--sluice-danger': '#ff9a90',
    '--sluice-danger-soft': '#301a19',
    '--sluice-danger-line': '#5f2d2a',
  },
})
