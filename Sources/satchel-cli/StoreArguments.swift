import ArgumentParser
import Satchel

/// The arguments of a command that opens a store.
protocol StoreOpening {
  var store: String { get }
  /// Returns the encryption key of the store; nil when none is given.
  func storeKey() throws -> [UInt8]?
}

/// The arguments of a command that opens a store, and reads no encrypted content.
struct StoreArguments: ParsableArguments, StoreOpening {
  @Argument(help: "The store's file.", completion: .file())
  var store: String

  @Flag(help: "Print JSON, on one line.")
  var json = false

  func storeKey() throws -> [UInt8]? { nil }
}

/// The arguments of a command that may read or write encrypted content.
struct KeyedStoreArguments: ParsableArguments, StoreOpening {
  @Argument(help: "The store's file.", completion: .file())
  var store: String

  @Flag(help: "Print JSON, on one line.")
  var json = false

  @OptionGroup var key: StoreKeyArguments

  func storeKey() throws -> [UInt8]? { try key.key() }
}

/// The encryption key of a store: never an argument, because other users of the machine can read arguments.
struct StoreKeyArguments: ParsableArguments {
  /// The environment variable with the digits of the key.
  static let variable = "SATCHEL_STORE_KEY"

  @Option(
    help: ArgumentHelp(
      "A file with the key of what the store has encrypted: 32 bytes, or 64 hexadecimal digits. The default is "
        + "the environment variable \(variable), with the digits.",
      valueName: "file"),
    completion: .file())
  var storeKeyFile: String?

  /// Returns the key; nil when none is given.
  func key() throws -> [UInt8]? {
    if let storeKeyFile { return try KeyFile.read(storeKeyFile) }
    guard let digits = getenv(Self.variable).map({ String(cString: $0) }), !digits.isEmpty else { return nil }
    guard let key = KeyFile.key(ofDigits: Array(digits.utf8)) else {
      throw SatchelError(.invalid, "\(Self.variable): must have 64 hexadecimal digits")
    }
    return key
  }
}

extension StoreOpening {
  /// Opens the store; creates the file only if `creating` is true.
  ///
  /// - Parameters:
  ///   - writing: whether the command changes the store
  ///   - creating: whether to create a store that does not exist; nil when the command never does
  func open(writing: Bool = false, creating: Bool? = nil) throws -> Store {
    guard creating == true || access(store, F_OK) == 0 else {
      let hint = creating == nil ? "" : "; --create creates it"
      throw SatchelError(.notFound, "\(store.printable): does not exist\(hint)")
    }
    // Read first: without it nothing is opened.
    let key = try storeKey()
    var options = StoreOptions()
    options.isReadOnly = !writing
    let opened = try Store(path: store, options: options)
    do {
      if let key { try opened.state.setKey(key) }
    } catch {
      try? opened.close()
      throw error
    }
    return opened
  }

  /// Opens the store for writing, runs `body`, and closes it. When the stored data forbid the change, prints
  /// why, and ends the command with exit code 1.
  ///
  /// - Parameter creating: as for `open`
  func change<Result>(creating: Bool? = nil, _ body: (Store) throws -> Result) throws -> Result {
    let store = try open(writing: true, creating: creating)
    do {
      let result = try body(store)
      try store.close()
      return result
    } catch {
      try? store.close()
      guard let refusal = error as? SatchelError, [.conflict, .constraint].contains(refusal.code) else {
        throw error
      }
      Terminal.printError(refusal.message)
      throw Terminal.attention
    }
  }

  /// Ends the command with exit code 1 when a change went to the outbox file, because the store's file could
  /// not be written.
  func checkOutbox() throws {
    guard OutboxFile(store: store).isPending else { return }
    Terminal.printError(
      "\(store.printable).outbox: contains changes that are not in the store; the next app that opens the store "
        + "for writing applies them")
    throw Terminal.attention
  }
}

/// JSON that is given as an argument, or on the standard input.
struct JSONInput {
  /// The JSON, without white space around it.
  let bytes: [UInt8]
  private let name: String

  /// - Parameters:
  ///   - argument: the JSON, or "-" for the standard input
  ///   - name: the name of the argument, for messages
  /// - Throws: `SatchelError` `.invalid` for invalid JSON, with the position; `.io`
  init(_ argument: String, as name: String) throws {
    let isInput = argument == "-"
    self.name = isInput ? "the standard input" : name
    var bytes: ArraySlice<UInt8>
    do {
      bytes = try (isInput ? FileBytes.contents(of: STDIN_FILENO) : CommandLine.bytes(of: argument))[...]
    } catch let error as SatchelError {
      throw SatchelError(error.code, "\(self.name): \(error.message)")
    }
    do {
      try bytes.withUnsafeBytes { try JSONScanner.check($0) }
    } catch {
      throw SatchelError(.invalid, "\(self.name): \(error)")
    }
    // JSON white space is space, tab, LF or CR.
    while let last = bytes.last, last <= 0x20 { bytes.removeLast() }
    self.bytes = Array(bytes.drop { $0 <= 0x20 })
  }

  var value: JSONValue { get throws { try JSONValue(parsing: bytes) } }

  /// - Throws: `SatchelError` `.invalid` for JSON that is not an object
  func checkObject() throws {
    guard bytes.first == UInt8(ascii: "{") else {
      throw SatchelError(.invalid, "\(name): must be a JSON object")
    }
  }
}
