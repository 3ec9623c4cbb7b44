import ArgumentParser
import Satchel

/// The arguments of every command that opens a store.
struct StoreArguments: ParsableArguments {
  @Argument(help: "The store's file.", completion: .file())
  var store: String

  @Flag(help: "Print JSON, on one line.")
  var json = false

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
    var options = StoreOptions()
    options.isReadOnly = !writing
    return try Store(path: store, options: options)
  }
}

/// A location given as JSON on the command line.
struct LocationArgument {
  let location: Location

  init(_ text: String) throws {
    do {
      location = try Location(json: JSONValue(parsing: text))
    } catch {
      throw ValidationError("--location: \(error)")
    }
  }

  static let help = ArgumentHelp(
    "A location: JSON with latitude, longitude, sublocality, locality, admin_area, country_code.",
    valueName: "json")
}
