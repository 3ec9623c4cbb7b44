import ArgumentParser
import Satchel

/// `satchel store check`: examines a store's file.
struct StoreCheck: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Examine the whole file.",
    discussion: """
      SQLite's own integrity check, then what holds in every sound store: each reference leads somewhere, and \
      counts agree. Reads every page, changes nothing.

        satchel store check guide.satchel

      Exit codes: 0 sound; 1 something is wrong with it, one line each; 2 could not run, as when there is no such \
      file, or it is no store.
      """)

  @OptionGroup var arguments: StoreArguments

  func run() throws {
    let findings = try examine()
    if arguments.json {
      try Terminal.print(
        json: .array(findings.map { ["code": .string($0.code), "message": .string($0.message)] }))
    } else if findings.isEmpty {
      print("\(arguments.store.printable): sound")
    } else {
      for finding in findings { print("\(finding.code): \(finding.message.printable)") }
    }
    if !findings.isEmpty { throw Terminal.attention }
  }

  private func examine() throws -> [(code: String, message: String)] {
    do {
      let store = try arguments.open()
      defer { try? store.close() }
      return try store.check().map { ($0.code, $0.message) }
    } catch let error as SatchelError where error.code == .damaged {
      // Too damaged to be opened, or to be read to the end: that is what was to be found out.
      return [("damaged", error.message)]
    }
  }
}
