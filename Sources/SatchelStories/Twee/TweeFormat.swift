/// The story format that a Twee text is written for: it decides what is a link, a macro and a comment.
///
/// | format    | comments                        | shown as it stands                 | macros           |
/// | --------- | ------------------------------- | ---------------------------------- | ---------------- |
/// | SugarCube | `/* */`, `/% %/`, `<!-- -->`    | `{{{ }}}`, `<nowiki>`, `""" """`   | `<<name>>`       |
/// | Harlowe   | `<!-- -->`                      | runs of backticks                  | `(name: ...)`    |
/// | Chapbook  | `<!-- -->`, `[note]` sections   | none                               | `{name: ...}`    |
/// | Snowman   | `<!-- -->`, `/* */`             | none                               | `<% %>`          |
/// | unknown   | `/* */`, `/% %/`, `<!-- -->`    | `{{{ }}}`, `<nowiki>`              | those that jump  |
///
/// Where the format is unknown, the macros of all formats count, since none of them stands in prose by chance;
/// backticks do not hide, since in most formats they do not.
enum TweeFormat {
  case sugarCube, harlowe, chapbook, snowman, unknown

  /// By the name in StoryData.
  init(name: String) {
    switch name.lowercased() {
    case let name where name.hasPrefix("sugarcube"): self = .sugarCube
    case let name where name.hasPrefix("harlowe"): self = .harlowe
    case let name where name.hasPrefix("chapbook"): self = .chapbook
    case let name where name.hasPrefix("snowman"): self = .snowman
    default: self = .unknown
    }
  }

  /// Whether the format, or the one that it may be, is one of these.
  func may(be formats: TweeFormat...) -> Bool { self == .unknown || formats.contains(self) }
}

/// What ends something that must be closed to count.
enum TweeEnding: UInt32 {
  case comment, percentComment, markupComment, braces, noWiki, quotes, macro, macroScript, script, style,
    template

  var spelling: StaticString {
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
    }
  }
}
