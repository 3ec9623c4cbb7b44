import ArgumentParser
import Satchel

/// `satchel state`.
struct StateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "state",
    abstract: "Show and set the values of an app's state.",
    discussion: """
      State is what an app changes often: settings, navigation, favourites. A value is JSON, under a key.

        satchel state list planner.satchel
        satchel state get planner.satchel theme
        satchel state set planner.satchel theme '"dark"'
      """,
    subcommands: [StateListCommand.self, StateGetCommand.self, StateSetCommand.self])
}

/// The key of a value.
struct StateKeyArgument: ParsableArguments {
  @Argument(help: "The value's key.")
  var key: String

  func validate() throws {
    guard CommandLine.isUTF8(key) else { throw ValidationError("the key is not UTF-8") }
  }
}

/// `satchel state list`: lists the keys that have values.
struct StateListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the keys that have values.",
    discussion: """
      Prints a key on each line, in the order of their bytes; --json prints an array.

        satchel state list planner.satchel
        satchel state list planner.satchel window.

      Exit codes: 0 listed; 1 no key begins with the prefix; 2 could not run.
      """)

  @OptionGroup var arguments: KeyedStoreArguments

  @Argument(help: "Only keys that begin with this prefix.")
  var prefix = ""

  func run() throws {
    let store = try arguments.open()
    defer { try? store.close() }
    let keys = try store.state.keys(prefix: prefix)
    let output = try Output()
    if arguments.json {
      try output.put(JSONValue.array(keys.map { .string($0) }).plainText + "\n")
    } else {
      for key in keys { try output.put(key.printable + "\n") }
    }
    try output.finish()
    guard keys.isEmpty else { return }
    if !arguments.json { Terminal.printError("\(arguments.store.printable): has no values under such keys") }
    throw Terminal.attention
  }
}

/// `satchel state get`: prints a value.
struct StateGetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "get",
    abstract: "Print a value.",
    discussion: """
      Prints the value as indented JSON; --json prints it on one line. Sensitive values are encrypted, and \
      printed only with their key.

        satchel state get planner.satchel theme
        satchel state get planner.satchel token --store-key-file key

      Exit codes: 0 printed; 1 the key has no value; 2 could not run, for example because the value is \
      sensitive and its key is not given.
      """)

  @OptionGroup var arguments: KeyedStoreArguments
  @OptionGroup var value: StateKeyArgument

  func run() throws {
    let store = try arguments.open()
    defer { try? store.close() }
    let found = try store.state.get(value.key)
    let output = try Output()
    if arguments.json {
      try output.put((found ?? .null).plainText + "\n")
    } else if let found {
      try output.put(found.pretty().printableJSON + "\n")
    }
    try output.finish()
    guard found == nil else { return }
    Terminal.printError("\(arguments.store.printable): has no value under \(value.key.printable)")
    throw Terminal.attention
  }
}

/// `satchel state set`: sets a value.
struct StateSetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "set",
    abstract: "Set a value.",
    discussion: """
      The value is JSON, so a string needs quotation marks. An app that has the store open sees it at once. \
      With --synced, the key is synchronized from now on; with --no-synced it is not any more. With \
      --sensitive the value is stored encrypted.

        satchel state set planner.satchel theme '"dark"'
        satchel state set planner.satchel window '{"width": 800, "height": 600}' --synced
        satchel state set planner.satchel theme - < theme.json
        satchel state set planner.satchel token - --sensitive --store-key-file key < token.json

      Exit codes: 0 set; 1 written to the outbox file, because the store's file could not be written; 2 could \
      not run, for example because the value is not JSON.
      """)

  @OptionGroup var arguments: KeyedStoreArguments
  @OptionGroup var value: StateKeyArgument

  @Argument(help: ArgumentHelp("The value: JSON; - is the standard input.", valueName: "value"))
  var json: String

  @Flag(inversion: .prefixedNo, help: "Whether the key is synchronized from now on.")
  var synced: Bool?

  @Flag(help: "Store the value encrypted.")
  var sensitive = false

  @OptionGroup var creation: CreationArguments

  func run() throws {
    let input = try JSONInput(json, as: "the value")
    let new = try input.value
    let warnings = try arguments.change(creating: creation.create) { store in
      let warnings = try store.state.set(value.key, new, sensitive: sensitive, synced: synced)
      try store.state.flush()
      return warnings
    }
    let output = try Output()
    let report: JSONValue = ["key": .string(value.key)]
    try output.put(arguments.json ? report.plainText + "\n" : "\(value.key.printable): set\n")
    try output.finish()
    for warning in warnings { Terminal.printError("\(value.key): \(warning.pointer): \(warning.reason)") }
    try arguments.checkOutbox()
  }
}
