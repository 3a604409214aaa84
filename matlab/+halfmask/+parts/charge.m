function charge(request, query)
%CHARGE  Charge the price of a request to its budget, if it has one: before any row is read.
if ~isempty(request.budget)
    request.budget.charge(request.price, query);
end
end
