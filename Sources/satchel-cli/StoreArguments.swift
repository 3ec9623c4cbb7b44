import ArgumentParser
import Satchel

/// What every command takes: a store, and how to answer.
struct StoreArguments: ParsableArguments {
  @Argument(help: "The store's file.", completion: .file())
  var store: String

  @Flag(help: "Print JSON, on one line.")
  var json = false

  /// Opens the store; a file that does not exist is made only when that is asked for.
  ///
  /// - Parameters:
  ///   - writing: whether the command changes the store
  ///   - creating: whether to make a store that does not exist; nil when the command never does
  func open(writing: Bool = false, creating: Bool? = nil) throws -> Satchel {
    guard creating == true || access(store, F_OK) == 0 else {
      let advice = creating == nil ? "" : "; --create makes it"
      throw SatchelError(.notFound, "\(store.printable): does not exist\(advice)")
    }
    var options = StoreOptions()
    options.isReadOnly = !writing
    return try Satchel(path: store, options: options)
  }
}

/// A location as it stands on a command line.
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
