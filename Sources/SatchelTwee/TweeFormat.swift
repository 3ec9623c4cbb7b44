/// The story format of a Twee text, which defines its links, macros and comments.
///
/// | format    | comments                        | verbatim text                      | macros           |
/// | --------- | ------------------------------- | ---------------------------------- | ---------------- |
/// | SugarCube | `/* */`, `/% %/`, `<!-- -->`    | `{{{ }}}`, `<nowiki>`, `""" """`   | `<<name>>`       |
/// | Harlowe   | `<!-- -->`                      | runs of backticks                  | `(name: ...)`    |
/// | Chapbook  | `<!-- -->`, `[note]` sections   | none                               | `{name: ...}`    |
/// | Snowman   | `<!-- -->`, `/* */`             | none                               | `<% %>`          |
/// | unknown   | `/* */`, `/% %/`, `<!-- -->`    | `{{{ }}}`, `<nowiki>`              | jump macros      |
///
/// When the format is unknown, the macros of all formats count, because none of them occurs in prose by
/// chance. Backticks do not start verbatim text, because they do not in most formats.
enum TweeFormat {
  case sugarCube, harlowe, chapbook, snowman, unknown

  /// Creates the format with a name in StoryData.
  init(name: String) {
    switch name.lowercased() {
    case let name where name.hasPrefix("sugarcube"): self = .sugarCube
    case let name where name.hasPrefix("harlowe"): self = .harlowe
    case let name where name.hasPrefix("chapbook"): self = .chapbook
    case let name where name.hasPrefix("snowman"): self = .snowman
    default: self = .unknown
    }
  }

  /// Whether the format is one of these, or unknown.
  func may(be formats: TweeFormat...) -> Bool { self == .unknown || formats.contains(self) }
}

/// The closing delimiters of constructs that count only when they are closed.
enum TweeEnding: UInt32 {
  case comment, percentComment, markupComment, braces, noWiki, quotes, macro, macroScript, script, style,
    template, tag

  var text: StaticString {
    switch self {
    case .comment: "*/"
    case .percentComment: "%/"
    case .markupComment: "-->"
    case .braces: "}}}"
    case .noWiki: "</nowiki>"
    case .quotes: "\"\"\""
    case .macro: ">>"
    case .macroScript: "<</script>>"
    case .script: "</script"
    case .style: "</style"
    case .template: "%>"
    case .tag: ">"
    }
  }
}
