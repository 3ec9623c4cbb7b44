import ArgumentParser
import Satchel

/// `satchel store check`: checks a store's integrity.
struct StoreCheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Check the integrity of the whole file.",
    discussion: """
      Runs SQLite's integrity check, then checks Satchel's own invariants: references point to existing \
      rows, and stored counts match the rows. Reads every page and changes nothing.

        satchel store check guide.satchel

      Exit codes: 0 sound; 1 damaged, with one line for each finding; 2 could not run, for example because \
      the file does not exist or is not a store.
      """)

  @OptionGroup var arguments: KeyedStoreArguments

  func run() throws {
    let findings = try check()
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

  private func check() throws -> [(code: String, message: String)] {
    do {
      let store = try arguments.open()
      defer { try? store.close() }
      return try store.check().map { ($0.code, $0.message) }
    } catch let error as SatchelError where error.code == .damaged {
      // A store that is too damaged to be opened or read is a finding, not a failure of the command.
      return [("damaged", error.message)]
    }
  }
}
