import SatchelCore
import SatchelJSON
import SatchelRemote

extension HTTPSource {
  /// Creates a source from options in JSON.
  ///
  /// - Parameter json: an object with `headers` (an object of strings), `timeouts` (`connect`, `stall` and `total`, in
  ///   milliseconds), `max_size`, `ca_file`, `proxy` and `allow_private`, all optional; null is as missing
  /// - Throws: `SatchelError` `.invalid` that names the option, without its value
  public init(baseURL: String, json: JSONValue) throws {
    guard let object = json.isNull ? JSONObject() : json.objectValue else {
      throw Self.refusal("options", "must be an object, not \(json.kind)")
    }
    var (headers, options) = ([(name: String, value: String)](), HTTPSourceOptions())
    for (name, value) in object where !value.isNull {
      switch name {
      case "headers":
        guard let members = value.objectValue else {
          throw Self.refusal(name, "must be an object of strings")
        }
        for (header, value) in members {
          guard let text = value.stringValue else {
            throw Self.refusal(name, "\(header.prefix(80)): must be a string")
          }
          headers.append((header, text))
        }
      case "timeouts": options.timeouts = try Self.timeouts(value, options.timeouts)
      case "max_size":
        guard let size = value.intValue, size > 0 else {
          throw Self.refusal(name, "must be a positive integer")
        }
        options.maxSize = size
      case "ca_file": options.caFile = try Self.text(value, name)
      case "proxy": options.proxy = try Self.text(value, name)
      case "allow_private":
        guard let isAllowed = value.boolValue else { throw Self.refusal(name, "must be a boolean") }
        options.allowsPrivateAddresses = isAllowed
      default:
        throw Self.refusal(
          "options",
          "\"\(name.prefix(32))\" is unknown; they are headers, timeouts, max_size, ca_file, proxy and allow_private"
        )
      }
    }
    try self.init(baseURL: baseURL, headers: headers, options: options)
  }

  private static func refusal(_ name: String, _ reason: String) -> SatchelError {
    SatchelError(.invalid, "\(name): \(reason)")
  }

  private static func text(_ value: JSONValue, _ name: String) throws -> String {
    guard let text = value.stringValue, !text.isEmpty, !text.utf8.contains(0) else {
      throw refusal(name, "must be a string that is not empty")
    }
    return text
  }

  private static func timeouts(_ value: JSONValue, _ defaults: HTTPTimeouts) throws -> HTTPTimeouts {
    guard let object = value.objectValue else { throw refusal("timeouts", "must be an object") }
    var timeouts = defaults
    for (name, value) in object {
      guard let milliseconds = value.intValue, (0...86_400_000).contains(milliseconds) else {
        throw refusal("timeouts", "a timeout must be an integer from 0 to 86400000 milliseconds")
      }
      switch name {
      case "connect": timeouts.connect = milliseconds
      case "stall": timeouts.stall = milliseconds
      case "total": timeouts.total = milliseconds
      default: throw refusal("timeouts", "they are connect, stall and total")
      }
    }
    return timeouts
  }
}
